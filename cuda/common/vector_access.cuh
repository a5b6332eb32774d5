// Runs of elements between registers and memory.
#pragma once

#include <type_traits>

namespace chol::cuda {

/// Moves kCount elements between registers and shared memory, by the widest possible accesses.
template <int kCount, class T>
__device__ __forceinline__ void copy_wide(T* to, const T* from) {
  constexpr int kBytes = kCount * sizeof(T);
  // Typed accesses: reinterpreting an array of elements would move it from registers to local
  // memory.
  using Wide = std::conditional_t<std::is_same_v<T, double>, double2, float4>;
  if constexpr (sizeof(T) == 16) {
#pragma unroll
    for (int e = 0; e < kCount; ++e) to[e] = from[e];
  } else if constexpr (kBytes % 16 == 0) {
#pragma unroll
    for (int e = 0; e < kCount; e += 16 / sizeof(T))
      *reinterpret_cast<Wide*>(to + e) = *reinterpret_cast<const Wide*>(from + e);
  } else if constexpr (kBytes % 8 == 0 && sizeof(T) == 4) {
#pragma unroll
    for (int e = 0; e < kCount; e += 2)
      *reinterpret_cast<float2*>(to + e) = *reinterpret_cast<const float2*>(from + e);
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) to[e] = from[e];
  }
}

}  // namespace chol::cuda
