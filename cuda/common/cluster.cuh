// Thread block clusters, which devices have from compute capability 9.0 on; kernels that use them
// are launched on no other.
#pragma once

namespace chol::cuda {

/// Blocks of this block's cluster, along x.
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned blocks = 1;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
#endif
  return blocks;
}
/// This block's place among them.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
/// What a block was allotted of shared memory, which the blocks of a cluster have under one
/// address.
__device__ __forceinline__ unsigned char* own_shared(unsigned char* shared) { return shared; }
/// Until all threads of the cluster are here; what each wrote before, to global memory too, the
/// others then read. By whole warps.
__device__ __forceinline__ void meet_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

}  // namespace chol::cuda
