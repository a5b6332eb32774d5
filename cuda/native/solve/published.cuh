// Solutions that blocks exchange through device memory. Each value is its own flag: the memory is
// first filled with a NaN that is never a result, so that one access reads value and flag.
#pragma once

#include <cstdint>

#include "native/persistent/synchronize.cuh"

namespace chol::cuda::solve {

__device__ __forceinline__ bool is_missing(double x) { return __double_as_longlong(x) == -1; }
__device__ __forceinline__ bool is_missing(float x) { return __float_as_int(x) == -1; }
__device__ __forceinline__ double load_relaxed(const double* p) {
  double x;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ float load_relaxed(const float* p) {
  float x;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
  return x;
}
__device__ __forceinline__ void store_relaxed(double* p, double x) {
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(p), "d"(x) : "memory");
}
__device__ __forceinline__ void store_relaxed(float* p, float x) {
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(x) : "memory");
}
using persistent::Patience;

}  // namespace chol::cuda::solve
