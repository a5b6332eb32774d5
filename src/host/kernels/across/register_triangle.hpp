// Factorization of small triangles across lanes, without loops, between loading and storing them.
#pragma once

#include "host/kernels/across/transpose.hpp"
#include "lane/packed.hpp"

#ifndef CHOL_MOST_UNROLLED  // src/host/kernels.cmake: less where only the compile time counts
#define CHOL_MOST_UNROLLED 16
#endif

namespace chol::CHOL_ISA {

/// Largest order with straight-line code of its own: twice as fast as tiles in loops just beyond
/// the registers, a third faster at the largest. Beyond, the code exceeds the instruction cache.
template <class T>
inline constexpr int kUnrolled = smaller(is_complex<T> ? 12 : 16, CHOL_MOST_UNROLLED);
/// Largest order for which the triangle is one tile, partly spilled.
template <class T>
inline constexpr int kOneTile = is_complex<T> ? 6 : 8;
/// Edge of its tiles for larger orders.
inline constexpr int kUnrolledTile = 3;

/// A lower triangle of order N of matrices across lanes, for straight-line code: one register tile.
template <class E, int N>
struct RegisterTriangle {
  Tile<E, N, N> t;
  CHOL_INLINE E& at(int i, int j) { return t.e[i][j]; }
  template <class V>
  CHOL_INLINE void factor(V& info) {
    V reciprocal[N];
    factor_tile(t, reciprocal, info, 0);
  }
};

/// Larger ones are in memory, in columns of kLd, and are updated in registers tile by tile: a tile
/// that does not fit the registers would be written by the update from every column. Rows I on of
/// the block column J,
template <int N, int J, int I, class E, class V>
CHOL_INLINE void factor_rows_in_memory(LaneMatrix<E> L, const V* reciprocal) {
  if constexpr (I < N) {
    constexpr int NB = kUnrolledTile, R = N - I < NB ? N - I : NB;
    auto t = load_tile<R, NB>(L.from(I, J));
    subtract_square<J, false>(t, L.from(I, 0), L.from(J, 0));
    solve_from_right(t, L.from(J, J), reciprocal);
    store_tile(t, L.from(I, J));
    factor_rows_in_memory<N, J, I + NB>(L, reciprocal);
  }
}
/// and block columns J on.
template <int N, int J, class E, class V>
CHOL_INLINE void factor_columns_in_memory(LaneMatrix<E> L, V& info) {
  constexpr int NB = kUnrolledTile, C = N - J < NB ? N - J : NB;
  auto t = load_lower<C>(L.from(J, J));
  subtract_square<J, true>(t, L.from(J, 0), L.from(J, 0));
  V reciprocal[C];
  factor_tile(t, reciprocal, info, J);
  store_lower(t, L.from(J, J));
  if constexpr (J + NB < N) {
    factor_rows_in_memory<N, J, J + NB>(L, reciprocal);
    factor_columns_in_memory<N, J + NB>(L, info);
  }
}

/// The triangle of order N in memory. The factorization, and the transfer of the kShared columns
/// that all orders have at the end (lower) or the beginning (upper), are functions shared by both
/// triangles and all orders: inlined into each order they made up half of the library and of its
/// compile time.
template <class T, int N>
struct MemoryTriangle {
  using E = LaneElement<T>;
  using V = RealLaneOf<E>;
  static constexpr int kLd = kUnrolled<T>, kShared = kOneTile<T> + 1;
  E elements[kLd * N];

  CHOL_INLINE E* place(int i, int j) { return elements + i + j * kLd; }
  __attribute__((noinline)) static V factor(E* elements) {
    V info = V::zero();
    factor_columns_in_memory<N, 0>(LaneMatrix<E>{elements, 1, kLd}, info);
    return info;
  }
};

/// Elements of a column of every matrix of a group, from or to positions with a stride of Step.
template <class T, int Length, int Step>
__attribute__((noinline)) void load_column(typename LaneBuffer<T>::R* const* matrix, int64_t offset,
                                           LaneElement<T>* first) {
  LaneBuffer<T>::template load_unrolled<Length>(
      matrix, offset, [&](int i) -> LaneElement<T>& { return first[i * Step]; });
}
template <class T, int Length, int Step>
__attribute__((noinline)) void store_column(typename LaneBuffer<T>::R* const* matrix,
                                            int64_t offset, const LaneElement<T>* first) {
  LaneBuffer<T>::template store_unrolled<Length>(matrix, offset,
                                                 [&](int i) { return first[i * Step]; });
}
/// A triangle of order N of every matrix, whose first element is `offset` from the matrix's.
template <class T, int N, bool Upper>
__attribute__((noinline)) void load_columns(typename LaneBuffer<T>::R* const* matrix,
                                            int64_t offset, int64_t lda, LaneElement<T>* first) {
  constexpr int kLd = kUnrolled<T>;
  unrolled<N>([&](auto column) CHOL_INLINE_LAMBDA {
    constexpr int j = decltype(column)::value;
    if constexpr (Upper)
      LaneBuffer<T>::template load_unrolled<j + 1>(
          matrix, offset + j * lda, [&](int i) -> LaneElement<T>& { return first[j + i * kLd]; });
    else
      LaneBuffer<T>::template load_unrolled<N - j>(
          matrix, offset + j * (lda + 1),
          [&](int i) -> LaneElement<T>& { return first[j * (kLd + 1) + i]; });
  });
}
template <class T, int N, bool Upper>
__attribute__((noinline)) void store_columns(typename LaneBuffer<T>::R* const* matrix,
                                             int64_t offset, int64_t lda,
                                             const LaneElement<T>* first) {
  constexpr int kLd = kUnrolled<T>;
  unrolled<N>([&](auto column) CHOL_INLINE_LAMBDA {
    constexpr int j = decltype(column)::value;
    if constexpr (Upper)
      LaneBuffer<T>::template store_unrolled<j + 1>(matrix, offset + j * lda,
                                                    [&](int i) { return first[j + i * kLd]; });
    else
      LaneBuffer<T>::template store_unrolled<N - j>(
          matrix, offset + j * (lda + 1), [&](int i) { return first[j * (kLd + 1) + i]; });
  });
}

}  // namespace chol::CHOL_ISA
