// Reading and writing matrices across lanes in device memory, once.
#pragma once

#include "interleaved/call.cuh"

namespace chol::cuda {

/// p, of which the compiler does not know how it came about.
template <class E>
__device__ __forceinline__ E* walked(E* p) {
  asm volatile("" : "+l"(p));
  return p;
}

/// Elements that nobody reads again before they have left the caches. A read stays where it stands:
/// hoisted, it would hold a register for nothing.
__device__ __forceinline__ gpu_lane::VecF read_once(const gpu_lane::VecF* p) {
  gpu_lane::VecF x;
  asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(x.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ gpu_lane::VecD read_once(const gpu_lane::VecD* p) {
  gpu_lane::VecD x;
  asm volatile("ld.global.cs.f64 %0, [%1];" : "=d"(x.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ Lane<Complex<float>> read_once(const Lane<Complex<float>>* p) {
  Lane<Complex<float>> x;
  asm volatile("ld.global.cs.v2.f32 {%0, %1}, [%2];"
               : "=f"(x.re.v), "=f"(x.im.v)
               : "l"(p)
               : "memory");
  return x;
}
__device__ __forceinline__ Lane<Complex<double>> read_once(const Lane<Complex<double>>* p) {
  Lane<Complex<double>> x;
  asm volatile("ld.global.cs.v2.f64 {%0, %1}, [%2];"
               : "=d"(x.re.v), "=d"(x.im.v)
               : "l"(p)
               : "memory");
  return x;
}
template <class R>
__device__ __forceinline__ void write_once(gpu_lane::Vec<R>* p, gpu_lane::Vec<R> x) {
  __stcs(&p->v, x.v);
}
__device__ __forceinline__ void write_once(Lane<Complex<float>>* p, Lane<Complex<float>> x) {
  __stcs(reinterpret_cast<float2*>(p), make_float2(x.re.v, x.im.v));
}
__device__ __forceinline__ void write_once(Lane<Complex<double>>* p, Lane<Complex<double>> x) {
  __stcs(reinterpret_cast<double2*>(p), make_double2(x.re.v, x.im.v));
}

}  // namespace chol::cuda
