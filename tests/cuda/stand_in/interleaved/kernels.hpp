// Replacement of CUDA and other headers for cuda/interleaved/thread/left_looking.cuh and
// thread/tiled.cuh, for one thread on the host: test_columns.cpp, test_tiled.cpp. The other headers
// of this name include this one.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "interleaved/block_shape.hpp"
#include "interleaved/task.hpp"

#define CHOL_ISA gpu_lane
#define CHOL_INLINE inline
#define CHOL_UNROLL
#define __device__
#define __forceinline__ inline
#define __global__
#define __launch_bounds__(threads)
#define __align__(bytes)
#define __shared__
#define __CUDACC_RTC__
// Copies are synchronous: no waits or barriers are needed.
#define asm
#define volatile(...)

namespace chol::cuda {

extern char shared_bytes[];
struct {
  unsigned x = 0;
} inline constexpr blockIdx, threadIdx;

template <class I>
constexpr I smaller(I a, I b) {
  return a < b ? a : b;
}

}  // namespace chol::cuda

// The vocabulary of src/lane, with the library's roots and divisions.
namespace chol::gpu_lane {

template <class R>
struct Vec {
  using Real = R;
  R v;
  static Vec zero() { return {0}; }
  static Vec broadcast(R x) { return {x}; }
};
template <class R>
inline constexpr R kLargest = std::numeric_limits<R>::max();

template <class R>
Vec<R> fma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {std::fma(a.v, b.v, acc.v)};
}
template <class R>
Vec<R> fnma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {std::fma(-a.v, b.v, acc.v)};
}
template <class R>
Vec<R> mul(Vec<R> a, Vec<R> b) {
  return {a.v * b.v};
}
using cuda::smaller;
template <class R>
bool between(Vec<R> a, Vec<R> low, Vec<R> high) {
  return a.v > low.v && a.v <= high.v;
}
template <class R>
bool is_zero(Vec<R> x) {
  return x.v == 0;
}
template <class R>
Vec<R> select(bool m, Vec<R> yes, Vec<R> no) {
  return m ? yes : no;
}
template <class R>
Vec<R> invert(Vec<R> x) {
  return {1 / x.v};
}
template <class R>
void invert_root(Vec<R> x, Vec<R>& root, Vec<R>& reciprocal) {
  root.v = std::sqrt(x.v);
  reciprocal.v = 1 / root.v;
}

}  // namespace chol::gpu_lane

#include "lane/cholesky.hpp"

namespace chol::gpu_lane {

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

}  // namespace chol::gpu_lane

namespace chol::cuda {

template <class T>
using Lane = decltype(gpu_lane::lane(T{}));
template <class E>
using LaneMatrix = gpu_lane::LaneMatrix<E>;

template <class T>
inline constexpr char kPrecision = sizeof(T) == 4    ? 's'
                                   : sizeof(T) == 16 ? 'z'
                                                     : 'd';
template <>
inline constexpr char kPrecision<std::complex<float>> = 'c';

/// One matrix of order n and right-hand sides, lda = ldb = n.
template <class T>
struct InterleavedCall {
  Lane<T>*A, *B;
  int n;
  int* info;
  int64_t batch = 1;
  bool swapped = false;
  int64_t nrhs = 1;
  bool failed(int64_t) const { return *info != 0; }
  LaneMatrix<Lane<T>> triangle(int64_t) const { return {A, swapped ? n : 1, swapped ? 1 : n}; }
  LaneMatrix<Lane<T>> right_hand_sides(int64_t) const { return {B, 1, n}; }
};

template <class E>
E conj_if(bool yes, E x) {
  return yes ? gpu_lane::lane(gpu_lane::conj_where<true>(gpu_lane::number(x))) : x;
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
