// The vocabulary of src/lane on a GPU: a lane is a scalar of one thread, a matrix across lanes one
// matrix of that thread, in device or shared memory or in registers.
#pragma once

#include <cfloat>
#include <cstdint>

#include "common/scalar.cuh"

#define CHOL_ISA gpu_lane
#define CHOL_INLINE __device__ __forceinline__
#define CHOL_FUNCTION __device__
#define CHOL_UNROLL _Pragma("unroll")
#define CHOL_PAIR_ALIGNMENT alignas(2 * sizeof(V))

namespace chol::gpu_lane {

template <class R>
struct Vec {
  using Real = R;
  R v;
  CHOL_INLINE static Vec zero() { return {R(0)}; }
  CHOL_INLINE static Vec broadcast(R x) { return {x}; }
};
using VecF = Vec<float>;
using VecD = Vec<double>;

template <class R>
inline constexpr R kLargest = sizeof(R) == 8 ? R(DBL_MAX) : R(FLT_MAX);

template <class R>
CHOL_INLINE Vec<R> fma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {::fma(a.v, b.v, acc.v)};
}
template <class R>
CHOL_INLINE Vec<R> fnma(Vec<R> acc, Vec<R> a, Vec<R> b) {
  return {::fma(-a.v, b.v, acc.v)};
}
CHOL_INLINE VecF mul(VecF a, VecF b) { return {__fmul_rn(a.v, b.v)}; }
CHOL_INLINE VecD mul(VecD a, VecD b) { return {__dmul_rn(a.v, b.v)}; }

using cuda::smaller;

template <class R>
CHOL_INLINE bool between(Vec<R> a, Vec<R> low, Vec<R> high) {
  return a.v > low.v && a.v <= high.v;
}
template <class R>
CHOL_INLINE bool is_zero(Vec<R> a) {
  return a.v == R(0);
}
template <class R>
CHOL_INLINE Vec<R> select(bool m, Vec<R> yes, Vec<R> no) {
  return {m ? yes.v : no.v};
}

/// 1 / x to an ulp for normal x whose reciprocal is normal: the hardware's estimate and Newton's
/// steps, without the branches of a division.
CHOL_INLINE VecF invert(VecF x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x.v));
  return {::fmaf(y, ::fmaf(-x.v, y, 1.0f), y)};
}
CHOL_INLINE VecD invert(VecD x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x.v));
  // The estimate has 20 bits: a step of third order, then one of second for the last bit.
  const double e = ::fma(-x.v, y, 1.0);
  y = ::fma(y, ::fma(e, e, e), y);
  return {::fma(y, ::fma(-x.v, y, 1.0), y)};
}

/// root = sqrt(x) and reciprocal = 1 / root to an ulp for every positive finite x, without
/// branches.
CHOL_INLINE void invert_root(VecF x, VecF& root, VecF& reciprocal) {
  const bool tiny = x.v < 0x1p-100f;  // the estimate treats a subnormal number as zero
  const float p = tiny ? x.v * 0x1p+48f : x.v;
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(p));
  const float h = p * y;
  y = ::fmaf(0.5f * y, ::fmaf(-h, y, 1.0f), y);
  const float r = ::fmaf(0.5f * y, ::fmaf(-h, h, p), h);
  root.v = tiny ? r * 0x1p-24f : r;
  reciprocal.v = tiny ? y * 0x1p+24f : y;
}
CHOL_INLINE void invert_root(VecD x, VecD& root, VecD& reciprocal) {
  const bool tiny = x.v < 0x1p-960;
  const double p = tiny ? x.v * 0x1p+120 : x.v;
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(p));
  // With e = 1 - p y^2, 1/sqrt(p) = y (1 + e/2 + 3/8 e^2 + ...); the estimate has 20 bits.
  const double h = p * y;
  const double e = ::fma(-h, y, 1.0);
  const double c = e * ::fma(e, 0.375, 0.5);
  y = ::fma(y, c, y);
  const double s = ::fma(h, c, h);
  const double r = ::fma(0.5 * y, ::fma(-s, s, p), s);
  root.v = tiny ? r * 0x1p-60 : r;
  reciprocal.v = tiny ? y * 0x1p+60 : y;
}

}  // namespace chol::gpu_lane

#include "lane/cholesky.hpp"

namespace chol::cuda {

template <class T>
struct LaneElement {
  using Type = gpu_lane::Vec<T>;
};
template <class R>
struct LaneElement<Complex<R>> {
  using Type = gpu_lane::ComplexLane<gpu_lane::Vec<R>>;
};
/// The element of a matrix across lanes with the bits of T.
template <class T>
using Lane = typename LaneElement<T>::Type;

template <class E>
using LaneMatrix = gpu_lane::LaneMatrix<E>;

}  // namespace chol::cuda
