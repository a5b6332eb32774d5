// Thread block clusters, available from compute capability 9.0 on; kernels that use them are
// launched on no other device.
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
/// Rank of this block in the cluster.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank = 0;
#if __CUDA_ARCH__ >= 900
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#endif
  return rank;
}
/// The shared memory of a block, which all blocks of a cluster can address.
__device__ __forceinline__ unsigned char* own_shared(unsigned char* shared) { return shared; }
/// Barrier of all threads of the cluster, which also makes their writes to shared and global memory
/// visible. Called by whole warps.
__device__ __forceinline__ void meet_in_cluster() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

}  // namespace chol::cuda
