// The inverse of a matrix from its factor L, in place, a block of columns after the other in one
// sweep (Bientinesi, Gunter, van de Geijn 2008, Families of algorithms related to the inversion of
// a symmetric positive definite matrix).
//
// Before the step of a block the rows above it contain the product of the finished part of W =
// inverse(L) with its conjugate transpose; the block's rows left of it contain W before the
// division by the block's factor L11, and the rows below likewise. A step packs strips of all rows,
//     above: V = W10^H,    of the block: inverse(L11)^H,    below: -L21,
// and every tile of the matrix that has a row or a column above or in the block then takes, or
// becomes, the product of its rows and its columns in the strips.
#pragma once

#include "host/kernels/within/trailing_update.hpp"
#include "host/kernels/within/trsm.hpp"

namespace chol::CHOL_ISA {

/// Packs `rows` rows by `columns` columns at p into strips from row `row` on, as `change` makes
/// them. Element (i, k) is at p[i + k * ld], or at p[i * ld + k] when AlongRows.
template <bool AlongRows, class T, class Change>
inline void pack_rows(T* p, int64_t ld, int64_t rows, int64_t columns, const Strips<T>& s,
                      int64_t row, Change change) {
  constexpr int W = Elements<T>::width;
  constexpr int NR = kTileColumns<T>;
  if constexpr (AlongRows) {
    const ByRows<T> A{p, ld};
    for (int64_t r = 0; r < rows; r += W)
      for (int64_t k = 0; k < columns; k += NR) {
        RegisterTile<T, 1, NR> t;
        A.template load<kNoDiagonal, false>(t, r, rows, k, columns);
        for (int64_t c = 0; c < smaller<int64_t>(NR, columns - k); ++c)
          change(t.e[0][c]).store(s.at(row + r, k + c));
      }
  } else {
    for (int64_t k = 0; k < columns; k += NR)
      for (int64_t r = 0; r < rows; r += W)
        for (int64_t c = k; c < smaller(k + NR, columns); ++c) {
          const T* from = p + r + c * ld;
          const auto a =
              r + W <= rows ? Elements<T>::load(from) : Elements<T>::load_range(from, 0, rows - r);
          change(a).store(s.at(row + r, c));
        }
  }
  s.clear_to_group(row + round_up(rows, W), 0, columns);
}

/// Strips of the factor's block [first, last), whose rows count from the block's first, and the
/// reciprocals of its diagonal. Elements above the diagonal are not read.
template <class T>
inline void pack_factor(const host::PanelMatrix& M, int64_t first, int64_t last,
                        const host::PanelStrips& factor) {
  const Strips<T> s(factor);
  const FactorView<T> L(M);
  const int64_t n = last - first;
  for (int64_t k = 0; k < n; ++k)
    s.reciprocal[k] = RealOf<T>(1) / Elements<T>::reals(L.at(first + k, first + k))[0];
  for (int64_t k = 0; k < n; k += Strips<T>::kRows) {
    const int64_t below = k + Strips<T>::kRows, columns = smaller<int64_t>(n, below) - k;
    // The triangle of these columns, one column at a time.
    for (int64_t c = k; c < k + columns; ++c)
      for (int64_t i = k; i < below; ++i) {
        if (i > c && i < n)
          *s.at(i, c) = *L.at(first + i, first + c);
        else
          set_real(s.at(i, c), RealOf<T>(0));
      }
    if (below >= n) continue;
    Strips<T> part = s;
    part.base = s.at(0, k);
    const auto same = [](Elements<T> a) { return a; };
    T* p = const_cast<T*>(L.at(first + below, first + k));
    if (M.upper)
      pack_rows<true>(p, M.lda, n - below, columns, part, below, same);
    else
      pack_rows<false>(p, M.lda, n - below, columns, part, below, same);
  }
}

/// Rows of strips times inverse(L^H) for a factor in separate strips of the same depth.
template <class T>
struct StripSolve {
  static constexpr int W = Elements<T>::width;
  static constexpr int NR = kTileColumns<T>;
  static constexpr int MV = kTileVectors<T>;

  Strips<T> factor, X;
  int64_t columns;

  /// V vectors of rows from `row` on, which are zero before column `from`, a multiple of NR.
  template <int V>
  void rows(int64_t row, int64_t from) const {
    T* const left = X.at(row, 0);
    for (int64_t k = from; k < columns; k += NR) {
      const int64_t count = smaller<int64_t>(NR, columns - k);
      const T* const right = factor.at(k, 0);
      RegisterTile<T, V, NR> t;
      CHOL_UNROLL
      for (int c = 0; c < NR; ++c) CHOL_UNROLL
      for (int v = 0; v < V; ++v)
        t.e[v][c] =
            c < count ? Elements<T>::load(left + (v * X.depth + k + c) * W) : Elements<T>::zero();
      subtract_strips(t, X, left + from * W, right + from * W, k - from);
      solve_tile(t, factor, right, k, count);
      store_strips(t, X, left, k, count);
    }
  }
  /// Rows [row, row_end), those of a triangle zero before their own column, row `triangle` that of
  /// column 0.
  void run(int64_t row, int64_t row_end, int64_t triangle) const {
    for (; row < row_end; row += MV * W) {
      const int64_t from = larger<int64_t>(row - triangle, 0) / NR * NR;
      if (row + (MV - 1) * W < row_end)
        rows<MV>(row, from);
      else if (MV > 2 && row + W < row_end)
        rows<2>(row, from);
      else
        rows<1>(row, from);
    }
  }
};

/// Rows [row, row_end) of the strips of the step of block [first, last): all above, all of or all
/// below the block. `row` is a multiple of strip_rows.
template <class T>
inline void invert_rows(const host::PanelMatrix& M, int64_t first, int64_t last, int64_t row,
                        int64_t row_end, const host::PanelStrips& factor,
                        const host::PanelStrips& strips) {
  constexpr int W = Elements<T>::width;
  const Strips<T> s(strips);
  const StripSolve<T> solve{Strips<T>(factor), s, last - first};
  const int64_t rows = row_end - row, columns = last - first;
  T* const base = static_cast<T*>(M.A);
  T* const along = base + first + row * M.lda;
  T* const across = base + row + first * M.lda;
  if (row >= last) {
    const auto negated = [](Elements<T> a) { return a.scaled(-1); };
    M.upper ? pack_rows<true>(along, M.lda, rows, columns, s, row, negated)
            : pack_rows<false>(across, M.lda, rows, columns, s, row, negated);
  } else if (row < first) {
    const auto conjugated = [](Elements<T> a) { return a.conjugated(); };
    M.upper ? pack_rows<false>(across, M.lda, rows, columns, s, row, conjugated)
            : pack_rows<true>(along, M.lda, rows, columns, s, row, conjugated);
    solve.run(row, row_end, kNoTriangle);
  } else {
    for (int64_t r = row; r < row_end; r += W)
      for (int64_t k = 0; k < columns; ++k) Elements<T>::zero().store(s.at(r, k));
    s.clear_to_group(row + round_up(rows, W), 0, columns);
    for (int64_t r = row; r < row_end; ++r) set_real(s.at(r, r - first), RealOf<T>(1));
    solve.run(row, row_end, first);
  }
}

/// Tile of rows [row, row_end) and columns [column, column_end) in the step of block [first, last):
/// each range above, of or below the block, and not both below.
template <class T>
inline void invert_tile(const host::PanelMatrix& M, int64_t first, int64_t last, int64_t row,
                        int64_t row_end, int64_t column, int64_t column_end,
                        const host::PanelStrips& strips) {
  const bool of_block = (row >= first && row < last) || (column >= first && column < last);
  const Strips<T> s(strips);
  if (of_block)
    product_tile<T, true, true>(M, row, row_end, column, column_end, last - first, s, first);
  else
    product_tile<T, true, false>(M, row, row_end, column, column_end, last - first, s, kNoTriangle);
}

}  // namespace chol::CHOL_ISA
