// What cuda/interleaved/columns.cuh needs of CUDA and of the headers beside it, for one thread on
// the host: test_columns.cpp. The other headers of this name include this one.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "interleaved/block_shape.hpp"

#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(threads)
#define __align__(bytes)
#define __shared__
#define __CUDACC_RTC__
// Copies are done when they return: nothing waits, and no barrier is needed.
#define asm
#define volatile(...)

namespace chol::cuda {

extern char shared_bytes[];
struct {
  unsigned x = 0;
} inline constexpr blockIdx, threadIdx;

namespace gpu_lane {

template <class R>
struct Vec {
  using Real = R;
  R v;
  static Vec zero() { return {0}; }
};
template <class V>
struct ComplexLane {
  V re, im;
};
template <class E>
struct RealLane {
  using Type = E;
};
template <class V>
struct RealLane<ComplexLane<V>> {
  using Type = V;
};
template <class E>
using RealLaneOf = typename RealLane<E>::Type;
template <class E, int R, int C>
struct Tile {
  E e[R][C];
};
template <int N>
struct Count {
  static constexpr int value = N;
};

template <class R>
R number(Vec<R> x) {
  return x.v;
}
template <class R>
std::complex<R> number(ComplexLane<Vec<R>> x) {
  return {x.re.v, x.im.v};
}
template <class R>
Vec<R> lane(R x) {
  return {x};
}
template <class R>
ComplexLane<Vec<R>> lane(std::complex<R> x) {
  return {{x.real()}, {x.imag()}};
}
template <bool kConjugated, class R>
R conj_where(R x) {
  return x;
}
template <bool kConjugated, class R>
std::complex<R> conj_where(std::complex<R> x) {
  return kConjugated ? std::conj(x) : x;
}

template <bool kConjA, bool kConjB, class E>
E subtract(E c, E a, E b) {
  return lane(number(c) - conj_where<kConjA>(number(a)) * conj_where<kConjB>(number(b)));
}
template <class E>
E scale(E x, RealLaneOf<E> s) {
  return lane(number(x) * s.v);
}
template <class E>
RealLaneOf<E> real_part(E x) {
  return {std::real(number(x))};
}
template <class E>
E from_real(RealLaneOf<E> x) {
  if constexpr (sizeof(E) == sizeof(x))
    return x;
  else
    return {x, {0}};
}
template <class V>
V take_pivot(V& pivot, V& info, typename V::Real order) {
  if (!(pivot.v > 0) && info.v == 0) info.v = order;
  pivot.v = std::sqrt(pivot.v);
  return {1 / pivot.v};
}

}  // namespace gpu_lane

template <class T>
using Lane = decltype(gpu_lane::lane(T{}));
template <class E>
struct LaneMatrix {
  E* base;
  int64_t rs, cs;
  E& at(int64_t i, int64_t j) const { return base[i * rs + j * cs]; }
};

enum class InterleavedTask { factor, solve, factor_and_solve };
template <class T>
inline constexpr char kPrecision = sizeof(T) == 4    ? 's'
                                   : sizeof(T) == 16 ? 'z'
                                                     : 'd';
template <>
inline constexpr char kPrecision<std::complex<float>> = 'c';

/// One matrix of order n and a right-hand side, lda = n.
template <class T>
struct InterleavedCall {
  Lane<T>*A, *B;
  int n;
  int* info;
  int64_t batch = 1;
  bool swapped = false;
  LaneMatrix<Lane<T>> triangle(int64_t) const { return {A, 1, n}; }
  LaneMatrix<Lane<T>> right_hand_sides(int64_t) const { return {B, 1, n}; }
};

template <class E>
E conj_if(bool, E x) {
  return x;
}
template <class R>
bool is_zero(gpu_lane::Vec<R> x) {
  return x.v == 0;
}
template <class E>
E* walked(E* p) {
  return p;
}
template <class E>
E read_in_order(const E* p) {
  return *p;
}
template <class E>
void write_in_order(E* p, E x) {
  *p = x;
}
template <class E>
void copy_async(E* to, const E* from) {
  *to = *from;
}
inline void commit_copies() {}

}  // namespace chol::cuda
