// Named barriers: synchronization of some warps of a block.
#pragma once

namespace chol::cuda {

/// Of the kThreads threads of that group, whole warps that follow each other, as groups before it
/// do. @param group below 15: the first barrier is __syncthreads()'s.
template <int kThreads>
__device__ __forceinline__ void named_barrier_sync(int group) {
  asm volatile("barrier.sync %0, %1;" ::"r"(1 + group), "n"(kThreads) : "memory");
}

}  // namespace chol::cuda
