// Register tiles over lanes: the micro-kernels of factorization, solve and inverse.
//
// The tile size NB and the left-looking order follow the autotuned interleaved Cholesky of Gates,
// Kurzak, Luszczek, Pei, Dongarra (2017); a tile is loaded once, takes all its updates in registers
// and is stored once.
#pragma once

#include "lane/element.hpp"

namespace chol::CHOL_ISA {

/// A matrix across lanes: element (i, j) at base[i * rs + j * cs].
template <class E>
struct LaneMatrix {
  E* base;
  int64_t rs, cs;
  CHOL_INLINE E& at(int64_t i, int64_t j) const { return base[i * rs + j * cs]; }
  CHOL_INLINE LaneMatrix from(int64_t i, int64_t j) const { return {&at(i, j), rs, cs}; }
  CHOL_INLINE LaneMatrix transposed() const { return {base, cs, rs}; }
  CHOL_INLINE LaneMatrix rows_reversed() const { return {base, -rs, cs}; }
  CHOL_INLINE LaneMatrix columns_reversed() const { return {base, rs, -cs}; }
};

template <class E, int R, int C>
struct Tile {
  E e[R][C];
};

template <int R, int C, class E>
CHOL_INLINE Tile<E, R, C> load_tile(LaneMatrix<E> A) {
  Tile<E, R, C> t;
  CHOL_UNROLL
  for (int i = 0; i < R; ++i) CHOL_UNROLL
  for (int j = 0; j < C; ++j) t.e[i][j] = A.at(i, j);
  return t;
}
template <int R, int C, class E>
CHOL_INLINE void store_tile(const Tile<E, R, C>& t, LaneMatrix<E> A) {
  CHOL_UNROLL
  for (int i = 0; i < R; ++i) CHOL_UNROLL
  for (int j = 0; j < C; ++j) A.at(i, j) = t.e[i][j];
}
/// The lower triangle only.
template <int N, class E>
CHOL_INLINE Tile<E, N, N> load_lower(LaneMatrix<E> A) {
  Tile<E, N, N> t;
  CHOL_UNROLL
  for (int i = 0; i < N; ++i) CHOL_UNROLL
  for (int j = 0; j < N; ++j) t.e[i][j] = j <= i ? A.at(i, j) : zero_element<E>();
  return t;
}
template <int N, class E>
CHOL_INLINE void store_lower(const Tile<E, N, N>& t, LaneMatrix<E> A) {
  CHOL_UNROLL
  for (int i = 0; i < N; ++i) CHOL_UNROLL
  for (int j = 0; j <= i; ++j) A.at(i, j) = t.e[i][j];
}

/// t(i, j) := step(t(i, j), A(i, k), B(k, j)) for k < depth, k ascending. With Lower the elements
/// above the diagonal are skipped.
template <bool Lower, class E, int R, int C, class Step>
CHOL_INLINE void accumulate(Tile<E, R, C>& t, LaneMatrix<E> A, LaneMatrix<E> B, int64_t depth,
                            Step&& step) {
  for (int64_t k = 0; k < depth; ++k) {
    E a[R];
    CHOL_UNROLL
    for (int i = 0; i < R; ++i) a[i] = A.at(i, k);
    CHOL_UNROLL
    for (int j = 0; j < C; ++j) {
      const E b = B.at(k, j);
      CHOL_UNROLL
      for (int i = Lower ? j : 0; i < R; ++i) t.e[i][j] = step(t.e[i][j], a[i], b);
    }
  }
}
/// t -= op(A) * op(B).
template <bool ConjA, bool ConjB, bool Lower = false, class E, int R, int C>
CHOL_INLINE void subtract_product(Tile<E, R, C>& t, LaneMatrix<E> A, LaneMatrix<E> B,
                                  int64_t depth) {
  accumulate<Lower>(t, A, B, depth,
                    [](E acc, E a, E b) { return subtract<ConjA, ConjB>(acc, a, b); });
}
/// x -= op(L) * X. The unknown is the first factor of the product, as in the panel solves, so that
/// the steps of a complex product have the same order.
template <bool Conj, class E, int R, int C>
CHOL_INLINE void subtract_unknowns(Tile<E, R, C>& x, LaneMatrix<E> L, LaneMatrix<E> X,
                                   int64_t depth) {
  accumulate<false>(x, L, X, depth,
                    [](E acc, E l, E known) { return subtract<false, Conj>(acc, known, l); });
}

/// Cholesky factor of a diagonal tile; reciprocal[j] becomes 1 / l(j, j). `first` counts the
/// columns before this tile.
template <class Math = IeeeMath, class E, int N, class V>
CHOL_INLINE void factor_tile(Tile<E, N, N>& t, V (&reciprocal)[N], V& info, int64_t first) {
  CHOL_UNROLL
  for (int j = 0; j < N; ++j) {
    V pivot = real_part(t.e[j][j]);
    reciprocal[j] = take_pivot<Math>(pivot, info, static_cast<typename V::Real>(first + j + 1));
    t.e[j][j] = from_real<E>(pivot);
    CHOL_UNROLL
    for (int i = j + 1; i < N; ++i) t.e[i][j] = scale(t.e[i][j], reciprocal[j]);
    CHOL_UNROLL
    for (int c = j + 1; c < N; ++c) CHOL_UNROLL
    for (int i = c; i < N; ++i) t.e[i][c] = subtract<false, true>(t.e[i][c], t.e[i][j], t.e[c][j]);
  }
}

/// X := X * inverse(L^H) for the lower triangular N by N tile at L: columns left to right.
template <class E, int R, int N, class V>
CHOL_INLINE void solve_from_right(Tile<E, R, N>& x, LaneMatrix<E> L, const V* reciprocal) {
  CHOL_UNROLL
  for (int j = 0; j < N; ++j) {
    CHOL_UNROLL
    for (int k = 0; k < j; ++k) {
      const E l = L.at(j, k);
      CHOL_UNROLL
      for (int i = 0; i < R; ++i) x.e[i][j] = subtract<false, true>(x.e[i][j], x.e[i][k], l);
    }
    CHOL_UNROLL
    for (int i = 0; i < R; ++i) x.e[i][j] = scale(x.e[i][j], reciprocal[j]);
  }
}

/// X := inverse(op(L)) * X, forward substitution on an N by C tile of right-hand sides.
template <bool Conj, class E, int N, int C, class V>
CHOL_INLINE void solve_forward(Tile<E, N, C>& x, LaneMatrix<E> L, const V* reciprocal) {
  CHOL_UNROLL
  for (int i = 0; i < N; ++i) {
    CHOL_UNROLL
    for (int k = 0; k < i; ++k) {
      const E l = L.at(i, k);
      CHOL_UNROLL
      for (int c = 0; c < C; ++c) x.e[i][c] = subtract<false, Conj>(x.e[i][c], x.e[k][c], l);
    }
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) x.e[i][c] = scale(x.e[i][c], reciprocal[i]);
  }
}

/// X := inverse(op(L)^T) * X, backward substitution on an N by C tile of right-hand sides.
template <bool Conj, class E, int N, int C, class V>
CHOL_INLINE void solve_backward(Tile<E, N, C>& x, LaneMatrix<E> L, const V* reciprocal) {
  CHOL_UNROLL
  for (int i = N - 1; i >= 0; --i) {
    CHOL_UNROLL
    for (int k = N - 1; k > i; --k) {
      const E l = L.at(k, i);
      CHOL_UNROLL
      for (int c = 0; c < C; ++c) x.e[i][c] = subtract<false, Conj>(x.e[i][c], x.e[k][c], l);
    }
    CHOL_UNROLL
    for (int c = 0; c < C; ++c) x.e[i][c] = scale(x.e[i][c], reciprocal[i]);
  }
}

/// Runs body(std::integral_constant-like) with the number of remaining rows or columns, 1 .. NB, as
/// a compile-time constant.
template <int N>
struct Count {
  static constexpr int value = N;
};
template <int NB, class Body>
CHOL_INLINE void with_count(int64_t count, Body&& body) {
  if (count >= NB) return body(Count<NB>{});
  if constexpr (NB > 1) with_count<NB - 1>(count, body);
}

}  // namespace chol::CHOL_ISA
