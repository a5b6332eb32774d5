// Reading and writing matrices across lanes in device memory, once.
#pragma once

#include "interleaved/call.cuh"

namespace chol::cuda {

/// p, whose origin is hidden from the compiler.
template <class E>
__device__ __forceinline__ E* walked(E* p) {
  asm volatile("" : "+l"(p));
  return p;
}

/// Reads and writes in program order: a hoisted read would occupy a register. Without a streaming
/// hint, which costs 2 to 10 % of an H200's bandwidth.
__device__ __forceinline__ gpu_lane::VecF read_in_order(const gpu_lane::VecF* p) {
  gpu_lane::VecF x;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(x.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ gpu_lane::VecD read_in_order(const gpu_lane::VecD* p) {
  gpu_lane::VecD x;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(x.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ Lane<Complex<float>> read_in_order(const Lane<Complex<float>>* p) {
  Lane<Complex<float>> x;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(x.re.v), "=f"(x.im.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ Lane<Complex<double>> read_in_order(const Lane<Complex<double>>* p) {
  Lane<Complex<double>> x;
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(x.re.v), "=d"(x.im.v) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ void write_in_order(gpu_lane::VecF* p, gpu_lane::VecF x) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(x.v) : "memory");
}
__device__ __forceinline__ void write_in_order(gpu_lane::VecD* p, gpu_lane::VecD x) {
  asm volatile("st.global.f64 [%0], %1;" ::"l"(p), "d"(x.v) : "memory");
}
__device__ __forceinline__ void write_in_order(Lane<Complex<float>>* p, Lane<Complex<float>> x) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(x.re.v), "f"(x.im.v) : "memory");
}
__device__ __forceinline__ void write_in_order(Lane<Complex<double>>* p, Lane<Complex<double>> x) {
  asm volatile("st.global.v2.f64 [%0], {%1, %2};" ::"l"(p), "d"(x.re.v), "d"(x.im.v) : "memory");
}

}  // namespace chol::cuda
