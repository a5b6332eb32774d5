// Elements that blocks of one kernel hand to one another, real or complex.
#pragma once

#include "common/scalar.cuh"
#include "native/solve/published.cuh"

namespace chol::cuda::tlr {

/// An element that another block has written or will write.
template <class T>
__device__ __forceinline__ T load_published(const T* p) {
  const Real<T>* const parts = reinterpret_cast<const Real<T>*>(p);
  if constexpr (Traits<T>::is_complex)
    return {solve::load_relaxed(parts), solve::load_relaxed(parts + 1)};
  else
    return solve::load_relaxed(parts);
}
template <class T>
__device__ __forceinline__ bool is_unpublished(T x) {
  if constexpr (Traits<T>::is_complex)
    return solve::is_missing(x.re) || solve::is_missing(x.im);
  else
    return solve::is_missing(x);
}
/// @param x what was there when it was asked for
template <class T>
__device__ __forceinline__ T await_published(T x, const T* p) {
  solve::Patience patience;
  while (is_unpublished(x)) {
    patience.lose(reinterpret_cast<unsigned long long>(p), 0);
    x = load_published(p);
  }
  return x;
}
/// With another NaN in place of that which stands for what is missing.
template <class T>
__device__ __forceinline__ void publish(T* p, T x) {
  const auto storable = [](Real<T> part) {
    return solve::is_missing(part) ? Real<T>(0) * (largest(part) * largest(part)) : part;
  };
  Real<T>* const parts = reinterpret_cast<Real<T>*>(p);
  if constexpr (Traits<T>::is_complex) {
    solve::store_relaxed(parts, storable(x.re));
    solve::store_relaxed(parts + 1, storable(x.im));
  } else {
    solve::store_relaxed(parts, storable(x));
  }
}

}  // namespace chol::cuda::tlr
