// Factorization of one small matrix with minimal overhead: no workspace, no lookup of rows.
#pragma once

#include "host/kernels/within/panel.hpp"
#include "lane/tile.hpp"

namespace chol::CHOL_ISA {

/// A lane of one matrix: a scalar type with the same bits as a lane of a vector.
template <class R>
struct SingleLane {
  using Real = R;
  R v;
  CHOL_INLINE static SingleLane zero() { return {0}; }
};
template <class R>
CHOL_INLINE SingleLane<R> fma(SingleLane<R> acc, SingleLane<R> a, SingleLane<R> b) {
  return {multiply_add(acc.v, a.v, b.v)};
}
template <class R>
CHOL_INLINE SingleLane<R> fnma(SingleLane<R> acc, SingleLane<R> a, SingleLane<R> b) {
  return {multiply_add(acc.v, -a.v, b.v)};
}
template <class R>
CHOL_INLINE SingleLane<R> mul(SingleLane<R> a, SingleLane<R> b) {
  return {a.v * b.v};
}
template <class T>
struct SingleElementOf {
  using Type = SingleLane<T>;
};
template <class R>
struct SingleElementOf<Complex<R>> {
  using Type = ComplexLane<SingleLane<R>>;
};
template <class T>
using SingleElement = typename SingleElementOf<T>::Type;

/// Largest order that is accessed element by element: a caller has often just written the matrix
/// that way, and a vector load that spans several recent stores stalls (no store forwarding). For
/// the upper triangle tiles pay from larger orders on, because they are transposed.
template <class T>
constexpr int most_by_element(bool upper) {
  return is_complex<T> ? 6 + upper : (sizeof(T) == 8 ? 12 : 11) + upper;
}

/// Cholesky of a triangle that the compiler keeps in registers. Returns info.
template <class E, int N>
CHOL_INLINE int factor_elements(Tile<E, N, N>& t) {
  using V = RealLaneOf<E>;
  using R = typename V::Real;
  CHOL_UNROLL
  for (int j = 0; j < N; ++j) {
    const R pivot = real_part(t.e[j][j]).v;
    constexpr R kMost = kLargest<R>;
    if (!(pivot > R(0) && pivot <= kMost)) return j + 1;
    const R root = square_root(pivot);
    const V reciprocal = {R(1) / root};
    t.e[j][j] = from_real<E>(V{root});
    CHOL_UNROLL
    for (int i = j + 1; i < N; ++i) t.e[i][j] = scale(t.e[i][j], reciprocal);
    CHOL_UNROLL
    for (int c = j + 1; c < N; ++c) CHOL_UNROLL
    for (int i = c; i < N; ++i) t.e[i][c] = subtract<false, true>(t.e[i][c], t.e[i][j], t.e[c][j]);
  }
  return 0;
}

/// Orders up to a tile's columns: the whole triangle in one register tile.
template <class T, class Storage>
__attribute__((noinline)) int64_t factor_one_tile(const Storage& A, int64_t n) {
  constexpr int NR = kTileColumns<T>, V = (NR + Elements<T>::width - 1) / Elements<T>::width;
  alignas(64) T strips[Strips<T>::kRows * NR];
  RealOf<T> reciprocal[NR];
  const Panel<T, Storage> panel{A, Strips<T>({strips, NR, reciprocal}), 0};
  const int64_t good = panel.template diagonal_tile<V, 0>(0, n, n);
  return good == n ? 0 : good + 1;
}

template <class T, class Storage>
inline int64_t factor_small(const Storage& A, int64_t n) {
  if (n <= kTileColumns<T>) return factor_one_tile<T>(A, n);
  constexpr int64_t kMost = host::kMostSmallOrder;
  alignas(64) T strips[round_up(kMost, Strips<T>::kRows) * kMost];
  RealOf<T> reciprocal[kMost];
  const Panel<T, Storage> panel{A, Strips<T>({strips, n, reciprocal}), 0};
  return panel.factor(n, n, nullptr);
}

template <class T>
int factor_small_matrix(bool upper, int64_t n, void* A, int64_t lda) {
  using E = SingleElement<T>;
  if (n <= most_by_element<T>(upper)) {
    const LaneMatrix<E> M{static_cast<E*>(A), upper ? lda : 1, upper ? 1 : lda};
    int info = 0;
    with_count<most_by_element<T>(true)>(n, [&](auto count) {
      auto t = load_lower<count.value>(M);
      info = factor_elements(t);
      store_lower(t, M);
    });
    return info;
  }
  T* base = static_cast<T*>(A);
  return static_cast<int>(upper ? factor_small<T>(ByRows<T>{base, lda}, n)
                                : factor_small<T>(ByColumns<T>{base, lda}, n));
}

}  // namespace chol::CHOL_ISA
