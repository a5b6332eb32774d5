// Loads of real or complex elements that a kernel reads once.
#pragma once

#include <type_traits>

#include "common/scalar.cuh"

namespace chol::cuda::tlr {

/// Loads an element that is read once, without displacing reused data from the cache.
template <class T>
__device__ __forceinline__ T load_once(const T* p) {
  if constexpr (Traits<T>::is_complex) {
    using Parts = std::conditional_t<sizeof(T) == 16, double2, float2>;
    const Parts parts = __ldcs(reinterpret_cast<const Parts*>(p));
    return {parts.x, parts.y};
  } else {
    return __ldcs(p);
  }
}

}  // namespace chol::cuda::tlr
