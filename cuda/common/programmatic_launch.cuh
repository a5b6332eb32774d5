// Kernels that start while the one before them in a stream ends (launch.hpp, since compute
// capability 9.0; nothing happens before that, or where a kernel was launched as usual).
#pragma once

namespace chol::cuda {

/// The kernel behind this one in the stream may start, to wait_for_kernels_before() at least.
__device__ __forceinline__ void let_next_kernel_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}
/// Until all kernels before this one have ended and what they wrote is there. To be called by every
/// thread of a kernel that is launched early, before it looks at anything in memory.
__device__ __forceinline__ void wait_for_kernels_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace chol::cuda
