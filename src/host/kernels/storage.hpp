// The two ways a lower triangle lies in memory, seen by register tiles of V vectors of rows by C
// columns. Upper is lower on swapped strides: the swapped storage is conj(A), whose factor is
// conj(L), which is U where U belongs.
#pragma once

#include "host/kernels/elements.hpp"

namespace chol::CHOL_ISA {

template <class T, int V, int C>
struct RegisterTile {
  Elements<T> e[V][C];
};

/// Whether a vector of W rows from `top` by C columns lies inside the matrix and under its
/// diagonal.
template <int C, int W>
CHOL_INLINE bool lies_inside(int64_t top, int64_t row_end, int64_t column, int64_t column_end) {
  return top + W <= row_end && column + C <= column_end && top >= column + C - 1;
}

/// Where a tile's diagonal starts when it has none.
inline constexpr int kNoDiagonal = -1;

/// Rows of a column side by side: the lower triangle in column-major storage.
template <class T>
struct ByColumns {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i + j * ld; }
  /// The hardware's prefetch follows columns by itself.
  CHOL_INLINE void fetch_rows(int64_t, int64_t, int64_t, int64_t) const {}

  /// Elements (i, j) of rows [row, row_end), columns [column, column_end) with j <= i.
  /// @tparam Diagonal the first vector's row that holds the diagonal element of column 0.
  template <int Diagonal = kNoDiagonal, int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end) const {
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      const int64_t top = row + v * W;
      if (lies_inside<C, W>(top, row_end, column, column_end)) {
        CHOL_UNROLL
        for (int c = 0; c < C; ++c) t.e[v][c] = Elements<T>::load(at(top, column + c));
      } else {
        CHOL_UNROLL
        for (int c = 0; c < C; ++c) t.e[v][c] = load_part(top, row_end, column + c, column_end);
      }
    }
  }
  template <int Diagonal = kNoDiagonal, int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t row, int64_t row_end,
                         int64_t column, int64_t column_end) const {
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      const int64_t top = row + v * W;
      if (lies_inside<C, W>(top, row_end, column, column_end)) {
        CHOL_UNROLL
        for (int c = 0; c < C; ++c) t.e[v][c].store(at(top, column + c));
      } else {
        CHOL_UNROLL
        for (int c = 0; c < C; ++c)
          if (column + c < column_end && from(top, column + c) < to(top, row_end))
            t.e[v][c].store_range(at(top, column + c), from(top, column + c), to(top, row_end));
      }
    }
  }

 private:
  static int64_t from(int64_t top, int64_t column) { return larger<int64_t>(0, column - top); }
  static int64_t to(int64_t top, int64_t row_end) { return smaller<int64_t>(W, row_end - top); }
  Elements<T> load_part(int64_t top, int64_t row_end, int64_t column, int64_t column_end) const {
    if (column >= column_end || from(top, column) >= to(top, row_end)) return Elements<T>::zero();
    return Elements<T>::load_range(at(top, column), from(top, column), to(top, row_end));
  }
};

/// Columns of a row side by side: the upper triangle in column-major storage. Tiles are transposed
/// in registers on the way in and out. C is a multiple of kRowRun.
template <class T>
struct ByRows {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;
  static constexpr int P = kRowRun;

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i * ld + j; }
  /// Asks for `columns` elements of rows [row, row_end): a line or two that no other row shares,
  /// which the hardware's prefetch does not foresee.
  CHOL_INLINE void fetch_rows(int64_t row, int64_t row_end, int64_t column, int64_t columns) const {
    keep_prefetches();
    for (; row < row_end; ++row) {
      __builtin_prefetch(at(row, column), 1, 3);
      __builtin_prefetch(at(row, column + columns) - 1, 1, 3);
    }
  }

  template <int Diagonal = kNoDiagonal, int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end) const {
    static_assert(C % P == 0);
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      CHOL_UNROLL
      for (int c = 0; c < C; c += P) {
        const Part at{row + v * W, row_end, column + c, column_end};
        // In line: an eighth of the blocks of order 128, a tenth of its time when called.
        if (Diagonal >= 0 && v == 0 && c == 0 && at.is_inside()) {
          Elements<T> part[P];
          load_rows(
              rows_of(at), [](int i) { return below_diagonal<Diagonal>(i); }, part);
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) t.e[v][c + e] = part[e];
        } else if (at.is_whole()) {
          Elements<T> part[P];
          load_rows(rows_of(at), whole, part);
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) t.e[v][c + e] = part[e];
        } else if (v == V - 1 && at.ends_below()) {
          Elements<T> part[P];
          load_rows(rows_before_end(at), whole, part);
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) t.e[v][c + e] = part[e];
        } else {
          Elements<T> part[P];
          load_cut(at, part);
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) t.e[v][c + e] = part[e];
        }
      }
    }
  }
  template <int Diagonal = kNoDiagonal, int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t row, int64_t row_end,
                         int64_t column, int64_t column_end) const {
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      CHOL_UNROLL
      for (int c = 0; c < C; c += P) {
        const Part at{row + v * W, row_end, column + c, column_end};
        if (Diagonal >= 0 && v == 0 && c == 0 && at.is_inside()) {
          Elements<T> part[P];
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) part[e] = t.e[v][c + e];
          store_rows(
              rows_of(at), [](int i) { return below_diagonal<Diagonal>(i); }, part);
        } else if (at.is_whole()) {
          Elements<T> part[P];
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) part[e] = t.e[v][c + e];
          store_rows(rows_of(at), whole, part);
        } else if (v == V - 1 && at.ends_below()) {
          Elements<T> part[P];
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) part[e] = t.e[v][c + e];
          store_rows(
              rows_before_end(at), [rows = at.rows()](int i) { return i < rows ? P : 0; }, part);
        } else {
          Elements<T> part[P];
          CHOL_UNROLL
          for (int e = 0; e < P; ++e) part[e] = t.e[v][c + e];
          store_cut(at, part);
        }
      }
    }
  }

 private:
  /// W rows from `top` by P columns from `left`, as far as they lie inside the tile's bounds.
  struct Part {
    int64_t top, row_end, left, column_end;
    CHOL_INLINE bool is_inside() const { return top + W <= row_end && left + P <= column_end; }
    CHOL_INLINE bool is_below_diagonal() const { return top >= left + P - 1; }
    CHOL_INLINE bool is_whole() const { return is_inside() && is_below_diagonal(); }
    /// Whether all that is missing are rows past the matrix's last: a tile's last vector often.
    CHOL_INLINE bool ends_below() const {
      return left + P <= column_end && is_below_diagonal() && top < row_end;
    }
    CHOL_INLINE int64_t rows() const { return smaller<int64_t>(W, row_end - top); }
  };
  static constexpr auto whole = [](int) { return P; };
  CHOL_INLINE auto rows_of(Part at) const {
    return [corner = this->at(at.top, at.left), ld = ld, fourth = 4 * ld](int i) {
      return corner + i / 4 * fourth + i % 4 * ld;
    };
  }
  /// Elements of row i in a part whose diagonal starts in row `first`: a constant once the loop
  /// over the rows is unrolled, so that the masks are.
  template <int first>
  static constexpr int below_diagonal(int i) {
    return i < first ? 0 : i < first + P - 1 ? i - first + 1 : P;
  }

  /// Calls move(rows, counts) for a part that the diagonal or the matrix's edge cuts. Out of line
  /// with its caller's part in memory: it is rare, and the tile has to stay in registers.
  template <class Move>
  CHOL_INLINE void with_cut(Part at, Move&& move) const {
    if (W < P && at.is_inside() && at.top == at.left + W)
      return move(rows_of(at), [](int i) { return below_diagonal<-W>(i); });
    const int64_t rows = at.rows(), under = at.top - at.left + 1;
    const int64_t columns = smaller<int64_t>(P, at.column_end - at.left);
    const auto count = [&](int i) -> int64_t {
      return i < rows ? larger<int64_t>(0, smaller(columns, under + i)) : 0;
    };
    T* const corner = this->at(at.top, at.left);
    move([&](int i) { return count(i) > 0 ? corner + i * ld : base; }, count);
  }
  /// The last row stands in for those past it, whose elements nobody stores.
  CHOL_INLINE auto rows_before_end(Part at) const {
    return [corner = this->at(at.top, at.left), ld = ld, last = at.rows() - 1](int i) {
      return corner + smaller<int64_t>(i, last) * ld;
    };
  }
  __attribute__((noinline)) void load_cut(Part at, Elements<T> (&out)[P]) const {
    with_cut(at, [&](auto rows, auto count) { load_rows(rows, count, out); });
  }
  __attribute__((noinline)) void store_cut(Part at, const Elements<T> (&in)[P]) const {
    with_cut(at, [&](auto rows, auto count) { store_rows(rows, count, in); });
  }
};

}  // namespace chol::CHOL_ISA
