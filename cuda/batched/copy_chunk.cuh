// The piece that triangles are copied to shared memory by.
#pragma once

#include "batched/async_copy.cuh"

namespace chol::cuda {

/// Starts the copy of 16 bytes of which the first `inside` elements are there; the others become
/// zero. @tparam kAligned both places are.
template <bool kAligned, class T>
__device__ __forceinline__ void copy_chunk(T* to, const T* from, int inside) {
  constexpr int kWide = 16 / sizeof(T);
  if constexpr (kAligned) {
    copy_async_once(shared_address(to), from, inside * int(sizeof(T)));
  } else {
#pragma unroll
    for (int e = 0; e < kWide; ++e)
      copy_async<sizeof(T)>(to + e, from + e, e < inside ? int(sizeof(T)) : 0);
  }
}

}  // namespace chol::cuda
