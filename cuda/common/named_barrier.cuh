// Named barriers: synchronization of some warps of a block.
#pragma once

namespace chol::cuda {

/// Barrier of the kThreads threads of a group of consecutive warps. @param group below 15: barrier
/// 0 is that of __syncthreads().
template <int kThreads>
__device__ __forceinline__ void named_barrier_sync(int group) {
  asm volatile("barrier.sync %0, %1;" ::"r"(1 + group), "n"(kThreads) : "memory");
}

}  // namespace chol::cuda
