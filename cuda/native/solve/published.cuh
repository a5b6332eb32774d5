// Solutions that blocks exchange through device memory. Each value is its own flag: the memory is
// first filled with a NaN that is never a result, so that one access reads value and flag.
#pragma once

#include <cstdint>

#include "common/scalar.cuh"
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

/// x; if it is the NaN that marks missing values, another NaN.
template <class R>
__device__ __forceinline__ R storable(R x) {
  return is_missing(x) ? R(0) * (largest(x) * largest(x)) : x;
}
template <class T>
__device__ __forceinline__ void publish(T* to, T x) {
  Real<T>* const parts = reinterpret_cast<Real<T>*>(to);
  if constexpr (Traits<T>::is_complex) {
    store_relaxed(parts, storable(x.re));
    store_relaxed(parts + 1, storable(x.im));
  } else {
    store_relaxed(parts, storable(x));
  }
}
template <class T>
__device__ __forceinline__ T load(const T* p) {
  const Real<T>* const parts = reinterpret_cast<const Real<T>*>(p);
  if constexpr (Traits<T>::is_complex)
    return {load_relaxed(parts), load_relaxed(parts + 1)};
  else
    return load_relaxed(parts);
}
template <class T>
__device__ __forceinline__ bool is_incomplete(T x) {
  if constexpr (Traits<T>::is_complex)
    return is_missing(x.re) || is_missing(x.im);
  else
    return is_missing(x);
}
template <class T>
__device__ __forceinline__ T await(const T* p) {
  Patience patience;
  T x = load(p);
  while (is_incomplete(x)) {
    patience.lose(reinterpret_cast<unsigned long long>(p), 0);
    x = load(p);
  }
  return x;
}

}  // namespace chol::cuda::solve
