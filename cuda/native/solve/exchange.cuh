// Elements of solutions that blocks exchange through device memory (published.cuh).
#pragma once

#include "common/scalar.cuh"
#include "native/solve/published.cuh"

namespace chol::cuda::solve {

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
