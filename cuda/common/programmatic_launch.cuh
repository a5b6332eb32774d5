// Programmatic dependent launch: kernels that start while the previous one in the stream ends
// (launch.hpp; from compute capability 9.0 on, otherwise and in ordinary launches without effect).
#pragma once

namespace chol::cuda {

/// Allows the next kernel in the stream to start and run up to wait_for_kernels_before().
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/// Waits until all previous kernels have ended and their writes are visible. To be called by every
/// thread of a kernel that is launched early, before it accesses memory.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace chol::cuda
