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

/// Rows of a column side by side: the lower triangle in column-major storage.
template <class T>
struct ByColumns {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i + j * ld; }

  /// Elements (i, j) of rows [row, row_end), columns [column, column_end) with j <= i.
  template <int V, int C>
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

/// Columns of a row side by side: the upper triangle in column-major storage. Tiles are transposed
/// in registers on the way in and out. C is a multiple of 4.
template <class T>
struct ByRows {
  T* base;
  int64_t ld;
  static constexpr int W = Elements<T>::width;

  CHOL_INLINE T* at(int64_t i, int64_t j) const { return base + i * ld + j; }

  template <int V, int C>
  CHOL_INLINE void load(RegisterTile<T, V, C>& t, int64_t row, int64_t row_end, int64_t column,
                        int64_t column_end) const {
    for_each_part<V, C>(row, row_end, column, column_end, [&](int v, int c, auto rows, auto count) {
      Elements<T> four[4];
      load_rows4<T>(rows, count, four);
      CHOL_UNROLL
      for (int e = 0; e < 4; ++e) t.e[v][c + e] = four[e];
    });
  }
  template <int V, int C>
  CHOL_INLINE void store(const RegisterTile<T, V, C>& t, int64_t row, int64_t row_end,
                         int64_t column, int64_t column_end) const {
    for_each_part<V, C>(row, row_end, column, column_end, [&](int v, int c, auto rows, auto count) {
      const Elements<T> four[4] = {t.e[v][c], t.e[v][c + 1], t.e[v][c + 2], t.e[v][c + 3]};
      store_rows4<T>(rows, count, four);
    });
  }

 private:
  /// Elements of row i of a part of four columns whose diagonal starts in row `first`: a constant
  /// once the loop over the rows is unrolled, so that the masks are.
  template <int first>
  static constexpr int below_diagonal(int i) {
    return i < first ? 0 : i < first + 3 ? i - first + 1 : 4;
  }

  /// Runs body on each W by 4 part with its row pointers and how many elements of each row count.
  template <int V, int C, class Body>
  CHOL_INLINE void for_each_part(int64_t row, int64_t row_end, int64_t column, int64_t column_end,
                                 Body&& body) const {
    static_assert(C % 4 == 0);
    const int64_t fourth = 4 * ld;
    CHOL_UNROLL
    for (int v = 0; v < V; ++v) {
      CHOL_UNROLL
      for (int c = 0; c < C; c += 4) {
        const int64_t top = row + v * W, left = column + c;
        T* const corner = at(top, left);
        const auto pointer = [&](int i) { return corner + i / 4 * fourth + i % 4 * ld; };
        const bool in_bounds = top + W <= row_end && left + 4 <= column_end;
        if (in_bounds && top >= left + 3) {
          body(v, c, pointer, [](int) { return 4; });
        } else if (in_bounds && top == left) {
          body(v, c, pointer, [](int i) { return below_diagonal<0>(i); });
        } else if (in_bounds && top == left - 4) {
          body(v, c, pointer, [](int i) { return below_diagonal<4>(i); });
        } else if (W > 8 && in_bounds && top == left - 8) {
          body(v, c, pointer, [](int i) { return below_diagonal<8>(i); });
        } else if (W > 8 && in_bounds && top == left - 12) {
          body(v, c, pointer, [](int i) { return below_diagonal<12>(i); });
        } else {
          const auto count = [&](int i) -> int64_t {
            if (top + i >= row_end) return 0;
            const int64_t last = smaller(smaller(left + 4, column_end), top + i + 1);
            return larger<int64_t>(0, last - left);
          };
          body(
              v, c, [&](int i) { return count(i) > 0 ? at(top + i, left) : base; }, count);
        }
      }
    }
  }
};

}  // namespace chol::CHOL_ISA
