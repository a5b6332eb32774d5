// The two storage orders of a lower triangle, as accessed by register tiles of V vectors of rows by
// C columns. Upper is lower on swapped strides: the swapped storage is conj(A), whose factor is
// conj(L), which is U where U belongs.
#pragma once

#include "host/kernels/within/vector.hpp"

namespace chol::CHOL_ISA {

template <class T, int V, int C>
struct RegisterTile {
  Elements<T> e[V][C];
};

/// Whether a vector of W rows from `top` by C columns is inside the matrix and below its diagonal.
template <int C, int W>
CHOL_INLINE bool lies_inside(int64_t top, int64_t row_end, int64_t column, int64_t column_end) {
  return top + W <= row_end && column + C <= column_end && top >= column + C - 1;
}

/// Diagonal position of a tile that does not contain it: so far above that no row is masked.
inline constexpr int kNoDiagonal = -1024;

/// Contiguous columns: the lower triangle in column-major storage.
template <class T>
struct ByColumns {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;
  /// Inside the bounds a vector is one load; the test costs nothing.
  static constexpr bool kOneWayInside = false;
  static constexpr bool kTradesRoles = false;  ///< in a trailing update: see AcrossRows

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i + j * ld; }
  /// Columns are prefetched by the hardware.
  CHOL_INLINE void fetch_rows(int64_t, int64_t, int64_t, int64_t) const {}

  /// Elements (i, j) of rows [row, row_end), columns [column, column_end) with j <= i.
  /// @tparam Diagonal the first vector's row that holds the diagonal element of column 0.
  template <int Diagonal = kNoDiagonal, bool Whole = false, int V, int C>
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
  template <int V, int C>
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

/// Contiguous rows: the upper triangle in column-major storage. Tiles of kRowRun columns are
/// transposed in registers when loaded and stored.
template <class T>
struct ByRows {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;
  static constexpr int P = kRowRun;
  /// Out of line: if the code for edges and for full tiles is inlined together, the compiler keeps
  /// tiles in memory.
  static constexpr bool kOneWayInside = true;

  static constexpr int64_t kFewSets = 512;  ///< bytes

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i * ld + j; }
  /// Prefetches `columns` elements of rows [row, row_end): one or two lines a row, which the
  /// hardware does not prefetch. Not if the row stride is a multiple of eight lines, where the rows
  /// share an eighth of the cache's sets and would evict the rows in use, which cost 5 % of the
  /// time of d n = 128.
  CHOL_INLINE void fetch_rows(int64_t row, int64_t row_end, int64_t column, int64_t columns) const {
    if (ld * int64_t(sizeof(T)) % kFewSets == 0) return;
    keep_prefetches();
    for (; row < row_end; ++row) {
      __builtin_prefetch(at(row, column), 1, 3);
      __builtin_prefetch(at(row, column + columns) - 1, 1, 3);
    }
  }

  /// Vectors v on of a tile.
  /// @tparam Whole the tile's V vectors by P columns are inside the bounds.
  template <int Diagonal, bool Whole, int v = 0, int V>
  CHOL_INLINE void load(RegisterTile<T, V, P>& t, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end) const {
    const Part at{row + v * W, row_end, column, column_end};
    if (Whole || at.is_inside())
      load_rows(rows_of(at), below_diagonal<Diagonal - v * W>, t.e[v]);
    else
      load_edge(at, below_diagonal<Diagonal - v * W>, t.e[v]);
    if constexpr (v + 1 < V) load<Diagonal, Whole, v + 1>(t, row, row_end, column, column_end);
  }
  template <int Diagonal, int v = 0, int V>
  CHOL_INLINE void store(const RegisterTile<T, V, P>& t, int64_t row, int64_t column) const {
    const Part at{row + v * W, row + (v + 1) * W, column, column + P};
    store_rows(rows_of(at), below_diagonal<Diagonal - v * W>, t.e[v]);
    if constexpr (v + 1 < V) store<Diagonal, v + 1>(t, row, column);
  }
  /// Stores a tile whose vectors are in a strip group at `strip`. Out of line and from memory: GCC
  /// keeps a whole tile in memory on all code paths if one of them tests bounds element by element.
  template <int Diagonal, int V, int v = 0>
  __attribute__((noinline)) void store_cut(const T* strip, int64_t stride, int64_t row,
                                           int64_t row_end, int64_t column,
                                           int64_t column_end) const {
    const Part at{row + v * W, row_end, column, column_end};
    Elements<T> in[P];
    CHOL_UNROLL
    for (int e = 0; e < P; ++e)
      in[e] =
          e < at.columns() ? Elements<T>::load(strip + v * stride + e * W) : Elements<T>::zero();
    if (at.is_inside())
      store_rows(rows_of(at), below_diagonal<Diagonal - v * W>, in);
    else
      store_edge(at, below_diagonal<Diagonal - v * W>, in);
    if constexpr (v + 1 < V)
      store_cut<Diagonal, V, v + 1>(strip, stride, row, row_end, column, column_end);
  }

 private:
  /// W rows from `top` by P columns from `left`, clipped to the tile's bounds.
  struct Part {
    int64_t top, row_end, left, column_end;
    CHOL_INLINE bool is_inside() const { return top + W <= row_end && left + P <= column_end; }
    CHOL_INLINE int64_t rows() const { return smaller<int64_t>(W, row_end - top); }
    CHOL_INLINE int64_t columns() const { return smaller<int64_t>(P, column_end - left); }
  };
  /// Elements of row i in a part whose diagonal starts in row `first`: constant after unrolling the
  /// loop over the rows, and so are the masks.
  template <int first>
  static constexpr auto below_diagonal = [](int i) {
    return i < first ? 0 : i < first + P - 1 ? i - first + 1 : P;
  };
  CHOL_INLINE auto rows_of(Part at) const {
    return [corner = this->at(at.top, at.left), ld = ld, fourth = 4 * ld](int i) {
      return corner + i / 4 * fourth + i % 4 * ld;
    };
  }

  /// Rows past the last one repeat it; they are never stored.
  template <class Triangle>
  CHOL_INLINE void load_edge(Part at, Triangle triangle, Elements<T> (&out)[P]) const {
    const int64_t rows = at.rows(), columns = at.columns();
    if (rows <= 0) {
      CHOL_UNROLL
      for (int e = 0; e < P; ++e) out[e] = Elements<T>::zero();
      return;
    }
    const auto row = rows_of(at);
    const T* const last = this->at(at.top + rows - 1, at.left);
    const auto present = [=](int i) { return i < rows ? row(i) : last; };
    if (columns == P)
      load_rows(present, triangle, out);
    else
      load_rows(present, limited(triangle, columns), out);
  }
  template <class Triangle>
  CHOL_INLINE void store_edge(Part at, Triangle triangle, const Elements<T> (&in)[P]) const {
    const int64_t rows = at.rows(), columns = at.columns();
    const auto count = limited(triangle, columns);
    if (rows > 0)
      store_rows(
          rows_of(at), [=](int i) { return i < rows ? count(i) : 0; }, in);
  }
  template <class Triangle>
  CHOL_INLINE static auto limited(Triangle triangle, int64_t columns) {
    return [=](int i) -> int64_t {
      return triangle(i) == 0 ? 0 : smaller<int64_t>(triangle(i), columns);
    };
  }
};

}  // namespace chol::CHOL_ISA
