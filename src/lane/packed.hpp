// Factors and solves matrices in the caller's memory, across lanes, with a packed copy of the
// triangle, so that every element of the caller is read once and written once: the caller's strides
// may be multiples of 4 KiB, whose elements all map to one set of a first-level cache.
//
// The caller's matrix is accessed by an iterator: get() and set(e) access the element, down() and
// right() advance by a row or column, from(i, j) is the iterator i rows and j columns further on.
#pragma once

#include "lane/triangle.hpp"

namespace chol::CHOL_ISA {

template <int R, int C, class E, class M>
CHOL_INLINE Tile<E, R, C> get_tile(M column) {
  Tile<E, R, C> t;
  CHOL_UNROLL
  for (int j = 0; j < C; ++j, column.right()) {
    M at = column;
    CHOL_UNROLL
    for (int i = 0; i < R; ++i, at.down()) t.e[i][j] = at.get();
  }
  return t;
}
template <int R, int C, class E, class M>
CHOL_INLINE void set_tile(const Tile<E, R, C>& t, M column) {
  CHOL_UNROLL
  for (int j = 0; j < C; ++j, column.right()) {
    M at = column;
    CHOL_UNROLL
    for (int i = 0; i < R; ++i, at.down()) at.set(t.e[i][j]);
  }
}
/// The lower triangle only.
template <int N, class E, class M>
CHOL_INLINE Tile<E, N, N> get_lower(M column) {
  Tile<E, N, N> t;
  CHOL_UNROLL
  for (int j = 0; j < N; ++j, column.right(), column.down()) {
    M at = column;
    CHOL_UNROLL
    for (int i = 0; i < j; ++i) t.e[i][j] = zero_element<E>();
    CHOL_UNROLL
    for (int i = j; i < N; ++i, at.down()) t.e[i][j] = at.get();
  }
  return t;
}
template <int N, class E, class M>
CHOL_INLINE void set_lower(const Tile<E, N, N>& t, M column) {
  CHOL_UNROLL
  for (int j = 0; j < N; ++j, column.right(), column.down()) {
    M at = column;
    CHOL_UNROLL
    for (int i = j; i < N; ++i, at.down()) at.set(t.e[i][j]);
  }
}

/// Left-looking Cholesky of the caller's lower triangle, with a copy in L.
/// @param[out] reciprocal n lanes of 1 / l(j, j).
/// @param[in,out] info lanes that must enter as 0; the order of the first bad minor on return.
template <class Math, int NB, class E, class M, class V>
CHOL_INLINE void factor_packed(M A, int64_t n, PackedTriangle<E, NB> L, V* reciprocal, V& info) {
  for (int64_t j = 0; j < n; j += NB) {
    const LaneMatrix<E> pivot_rows = L.rows(j);
    with_count<NB>(n - j, [&](auto columns) {
      constexpr int N = decltype(columns)::value;
      auto t = get_lower<N, E>(A.from(j, j));
      subtract_product<false, true, true>(t, pivot_rows, pivot_rows.transposed(), j);
      V local[N];
      factor_tile<Math>(t, local, info, j);
      set_lower(t, A.from(j, j));
      store_lower(t, pivot_rows.from(0, j));
      CHOL_UNROLL
      for (int c = 0; c < N; ++c) reciprocal[j + c] = local[c];
    });
    for (int64_t i = j + NB; i < n; i += NB) {
      const LaneMatrix<E> rows = L.rows(i);
      with_count<NB>(n - i, [&](auto count) {
        constexpr int R = decltype(count)::value;
        auto t = get_tile<R, NB, E>(A.from(i, j));
        subtract_product<false, true>(t, rows, pivot_rows.transposed(), j);
        solve_from_right(t, pivot_rows.from(0, j), reciprocal + j);
        set_tile(t, A.from(i, j));
        store_tile(t, rows.from(0, j));
      });
    }
  }
}

/// subtract_product of a depth that is known at compile time, without a loop.
template <int Depth, bool Lower, class E, int R, int C>
CHOL_INLINE void subtract_square(Tile<E, R, C>& t, LaneMatrix<E> A, LaneMatrix<E> B) {
  CHOL_UNROLL
  for (int k = 0; k < Depth; ++k) {
    E a[R];
    CHOL_UNROLL
    for (int i = 0; i < R; ++i) a[i] = A.at(i, k);
    CHOL_UNROLL
    for (int j = 0; j < C; ++j) {
      const E b = B.at(j, k);
      CHOL_UNROLL
      for (int i = Lower ? j : 0; i < R; ++i) t.e[i][j] = subtract<false, true>(t.e[i][j], a[i], b);
    }
  }
}

/// factor_packed of an order that is known at compile time, without a loop: rows I on of the block
/// column J,
template <int NB, int N, int J, int I, class E, class M, class V>
CHOL_INLINE void factor_rows_unrolled(M A, PackedTriangle<E, NB> L, const V* reciprocal) {
  if constexpr (I < N) {
    constexpr int R = N - I < NB ? N - I : NB;
    auto t = get_tile<R, NB, E>(A.from(I, J));
    subtract_square<J, false>(t, L.rows(I), L.rows(J));
    solve_from_right(t, L.rows(J).from(0, J), reciprocal);
    set_tile(t, A.from(I, J));
    store_tile(t, L.rows(I).from(0, J));
    factor_rows_unrolled<NB, N, J, I + NB>(A, L, reciprocal);
  }
}
/// and block columns J on.
template <class Math, int NB, int N, int J = 0, class E, class M, class V>
CHOL_INLINE void factor_packed_unrolled(M A, PackedTriangle<E, NB> L, V& info) {
  constexpr int C = N - J < NB ? N - J : NB;
  auto t = get_lower<C, E>(A.from(J, J));
  subtract_square<J, true>(t, L.rows(J), L.rows(J));
  V reciprocal[C];
  factor_tile<Math>(t, reciprocal, info, J);
  set_lower(t, A.from(J, J));
  if constexpr (J + NB < N) {
    store_lower(t, L.rows(J).from(0, J));
    factor_rows_unrolled<NB, N, J, J + NB>(A, L, reciprocal);
    factor_packed_unrolled<Math, NB, N, J + NB>(A, L, info);
  }
}

/// Copies the caller's factor to L and computes the reciprocals of its diagonal.
template <int NB, class E, class M, class V>
CHOL_INLINE void pack_factor(M A, int64_t n, PackedTriangle<E, NB> L, V* reciprocal) {
  const V one = V::broadcast(1);
  for (int64_t i = 0; i < n; ++i, A.down()) {
    const LaneMatrix<E> rows = L.rows(i / NB * NB).from(i % NB, 0);
    M at = A;
    for (int64_t j = 0; j < i; ++j, at.right()) rows.at(0, j) = at.get();
    const V diagonal = real_part(at.get());
    rows.at(0, i) = from_real<E>(diagonal);
    reciprocal[i] = divide(one, diagonal);
  }
}

/// X := inverse(L L^H) X for C of the caller's right-hand sides B, or inverse(conj(L) L^T) X with
/// Conj. X is n by C in a buffer; `put` stores an element of the solution.
template <int NB, int C, bool Conj, class E, class M, class V, class Put>
CHOL_INLINE void solve_packed(PackedTriangle<E, NB> L, int64_t n, const V* reciprocal, M B,
                              LaneMatrix<E> X, Put&& put) {
  for (int64_t i = 0; i < n; i += NB)
    with_count<NB>(n - i, [&](auto count) {
      constexpr int N = decltype(count)::value;
      auto x = get_tile<N, C, E>(B.from(i, 0));
      subtract_unknowns<Conj>(x, L.rows(i), X, i);
      solve_forward<Conj>(x, L.rows(i).from(0, i), reciprocal + i);
      store_tile(x, X.from(i, 0));
    });
  for (int64_t i = (n - 1) / NB * NB; i >= 0; i -= NB)
    with_count<NB>(n - i, [&](auto count) {
      constexpr int N = decltype(count)::value;
      auto x = load_tile<N, C>(X.from(i, 0));
      for (int64_t k = i + NB; k < n; k += NB)
        subtract_unknowns<!Conj>(x, L.rows(k).from(0, i).transposed(), X.from(k, 0),
                                 k + NB < n ? NB : n - k);
      solve_backward<!Conj>(x, L.rows(i).from(0, i), reciprocal + i);
      store_tile(x, X.from(i, 0));
      put(x, i);
    });
}

}  // namespace chol::CHOL_ISA
