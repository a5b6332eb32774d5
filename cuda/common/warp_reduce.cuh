// Sums of several values a lane over a warp.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

/// The sums over groups of kLanes lanes of kCount values a lane, a power of two: lane l gets the
/// sum of value l % kCount, with the same bits in all lanes that get it. In each step lanes
/// exchange half of their remaining values, so that no sum is computed twice. @tparam kLeft number
/// of remaining values.
template <int kCount, int kLanes = 32, int kLeft = kCount, class T>
__device__ __forceinline__ T sum_lanes_each(const T* values, int lane) {
  if constexpr (kLeft == 1) {
    return sum_lanes<kLanes, kCount>(*values);
  } else {
    constexpr int kHalf = kLeft / 2;
    const bool upper = (lane & kHalf) != 0;
    T left[kHalf];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const T given = select(upper, values[i], values[i + kHalf]);
      left[i] = add(select(upper, values[i + kHalf], values[i]), from_lane(given, lane ^ kHalf));
    }
    return sum_lanes_each<kCount, kLanes, kHalf>(left, lane);
  }
}

}  // namespace chol::cuda
