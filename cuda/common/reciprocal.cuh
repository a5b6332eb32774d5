// The hardware's estimates of reciprocals.
#pragma once

namespace chol::cuda {

/// Whether x is in the range of estimate_reciprocal(): a normal number with a normal reciprocal.
__device__ __forceinline__ bool has_estimate(float x) {
  return static_cast<unsigned>(__float_as_int(x)) - 0x00800000u < 0x7e000000u;
}
__device__ __forceinline__ bool has_estimate(double x) {
  return static_cast<unsigned>(__double2hiint(x)) - 0x00100000u < 0x7fc00000u;
}
__device__ __forceinline__ float estimate_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
__device__ __forceinline__ double estimate_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}

__device__ __forceinline__ double estimate_reciprocal_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}

}  // namespace chol::cuda
