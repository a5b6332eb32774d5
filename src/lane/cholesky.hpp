// Factor, solve and invert matrices across lanes, on the register tiles of lane/tile.hpp.
#pragma once

#include "lane/triangle.hpp"

namespace chol::CHOL_ISA {

struct NoWork {
  CHOL_INLINE void operator()() const {}
};

/// Register tiles of a triangle, and the number of calls of `beside` by factor().
template <int NB>
CHOL_INLINE constexpr int64_t tiles_of(int64_t n) {
  const int64_t blocks = (n + NB - 1) / NB;
  return blocks * (blocks + 1) / 2;
}

/// One tile below the diagonal of a block column that starts at column j and is N wide: the first
/// NB of `count` rows, and the block column's diagonal rows.
template <int NB, int N, class E, class V>
CHOL_INLINE void factor_below(LaneMatrix<E> rows, LaneMatrix<E> pivot_rows, int64_t count,
                              int64_t j, const V* reciprocal) {
  with_count<NB>(count, [&](auto rows_left) {
    constexpr int R = decltype(rows_left)::value;
    auto t = load_tile<R, N>(rows.from(0, j));
    subtract_product<false, true>(t, rows, pivot_rows.transposed(), j);
    solve_from_right(t, pivot_rows.from(0, j), reciprocal);
    store_tile(t, rows.from(0, j));
  });
}

/// Left-looking Cholesky of the lower triangle: A = L L^H in every lane.
/// @param[out] reciprocal n lanes of 1 / l(j, j).
/// @param[in,out] info lanes that must enter as 0; the order of the first bad minor on return.
/// @param beside called with every tile: work to be interleaved.
template <int NB, class E, class V, class Beside = NoWork>
inline void factor(PackedTriangle<E, NB> A, int64_t n, V* reciprocal, V& info,
                   Beside&& beside = {}) {
  for (int64_t j = 0; j < n; j += NB) {
    beside();
    const LaneMatrix<E> pivot_rows = A.rows(j);
    with_count<NB>(n - j, [&](auto columns) {
      constexpr int N = decltype(columns)::value;
      auto t = load_lower<N>(pivot_rows.from(0, j));
      subtract_product<false, true, true>(t, pivot_rows, pivot_rows.transposed(), j);
      V local[N];
      factor_tile(t, local, info, j);
      store_lower(t, pivot_rows.from(0, j));
      for (int c = 0; c < N; ++c) reciprocal[j + c] = local[c];
    });
    for (int64_t i = j + NB; i < n; i += NB) {
      beside();
      factor_below<NB, NB>(A.rows(i), pivot_rows, n - i, j, reciprocal + j);
    }
  }
}

/// Reciprocals of the diagonal of a factor, for a solve that did not factor itself.
template <class E, class V>
inline void invert_diagonal(LaneMatrix<E> L, int64_t n, V* reciprocal) {
  const V one = V::broadcast(1);
  for (int64_t j = 0; j < n; ++j) reciprocal[j] = divide(one, real_part(L.at(j, j)));
}
template <int NB, class E, class V>
inline void invert_diagonal(PackedTriangle<E, NB> L, int64_t n, V* reciprocal) {
  for (int64_t i = 0; i < n; i += NB)
    invert_diagonal(L.rows(i).from(0, i), smaller<int64_t>(NB, n - i), reciprocal + i);
}

/// B := inverse(op(L)) B, then B := inverse(op(L)^H) B on n by nrhs right-hand sides. Conj = false
/// solves L L^H X = B; Conj = true solves conj(L) L^T X = B, which is U^H U for U = L^T. Every
/// unknown is updated by the others in the order in which they become known, so that the bits do
/// not depend on the tile size. @param beside called with every block of unknowns of the first
/// right-hand sides, in both substitutions.
template <bool Conj, int NB, class E, class V, class Beside = NoWork>
inline void solve(PackedTriangle<E, NB> L, int64_t n, const V* reciprocal, LaneMatrix<E> B,
                  int64_t nrhs, Beside&& beside = {}) {
  for (int64_t c = 0; c < nrhs; c += NB) {
    with_count<NB>(nrhs - c, [&](auto columns) {
      constexpr int C = decltype(columns)::value;
      for (int64_t i = 0; i < n; i += NB) {
        if (c == 0) beside();
        with_count<NB>(n - i, [&](auto rows) {
          constexpr int N = decltype(rows)::value;
          auto x = load_tile<N, C>(B.from(i, c));
          subtract_unknowns<Conj>(x, L.rows(i), B.from(0, c), i);
          solve_forward<Conj>(x, L.rows(i).from(0, i), reciprocal + i);
          store_tile(x, B.from(i, c));
        });
      }
      for (int64_t i = (n - 1) / NB * NB; i >= 0; i -= NB) {
        if (c == 0) beside();
        with_count<NB>(n - i, [&](auto rows) {
          constexpr int N = decltype(rows)::value;
          auto x = load_tile<N, C>(B.from(i, c));
          for (int64_t k = (n - 1) / NB * NB; k > i; k -= NB) {
            const int64_t last = smaller<int64_t>(NB, n - k) - 1;
            subtract_unknowns<!Conj>(x, L.rows(k).from(last, i).transposed().columns_reversed(),
                                     B.from(k + last, c).rows_reversed(), last + 1);
          }
          solve_backward<!Conj>(x, L.rows(i).from(0, i), reciprocal + i);
          store_tile(x, B.from(i, c));
        });
      }
    });
  }
}

/// L := inverse(L) in place, lower triangular, column by column from the last (LAPACK's trti2).
/// @param reciprocal of the diagonal: an array, or an object with its interface.
template <class E, class Reciprocals>
CHOL_FUNCTION void invert_factor(LaneMatrix<E> L, int64_t n, Reciprocals reciprocal) {
  const E zero = zero_element<E>();
  for (int64_t j = n - 1; j >= 0; --j) {
    const RealLaneOf<E> inverse = reciprocal[j];
    L.at(j, j) = from_real<E>(inverse);
    // x := -inverse(L22) * l21 / l(j, j); inverse(L22) is already in place.
    for (int64_t i = n - 1; i > j; --i) {
      E sum = zero;
      for (int64_t k = j + 1; k <= i; ++k)
        sum = subtract<false, false>(sum, L.at(i, k), L.at(k, j));
      L.at(i, j) = scale(sum, inverse);
    }
  }
}

/// The lower triangle of W^H W over the lower triangular W: the inverse of L L^H when W =
/// inverse(L).
template <class E>
CHOL_FUNCTION void square_factor(LaneMatrix<E> W, int64_t n) {
  using V = RealLaneOf<E>;
  const V minus_one = V::broadcast(-1);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      E sum = zero_element<E>();
      for (int64_t k = i; k < n; ++k) sum = subtract<true, false>(sum, W.at(k, i), W.at(k, j));
      W.at(i, j) = i == j ? from_real<E>(mul(real_part(sum), minus_one)) : scale(sum, minus_one);
    }
}

}  // namespace chol::CHOL_ISA
