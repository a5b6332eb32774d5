// A = L L^H of one matrix by one kernel over all multiprocessors.
#pragma once

#include "native/persistent/chain.cuh"
#include "native/persistent/worker.cuh"

namespace chol::cuda::persistent {

/// Blocks beyond the first need the flags, which are zero at the start of the kernel.
template <class T, bool swapped, bool aligned>
__global__ void __launch_bounds__(Config<T>::kThreads, 1)
    factor_kernel(const __grid_constant__ Call<T> given) {
#if __CUDA_ARCH__ >= 900
  Call<T> call = given;
  if (call.array) call.A = *call.array;
  using C = Config<T>;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ int is_chain;
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = __shfl_sync(kFullWarp, thread / 32, 0), lane = thread % 32;
  // The order in which blocks start is not specified: the first one to start is the chain.
  if (thread == 0) is_chain = gridDim.x == 1 || atomicAdd(flags_of(call).started(), 1) == 0;
  __syncthreads();
  if (is_chain) {
    const Chain<T, swapped, aligned> chain(call, memory, lane);
    if (thread == 0) chain.prepare_barriers();
    chain.load_first(thread);
    __syncthreads();
    chain.run(warp);
  } else {
    auto* const barriers = reinterpret_cast<GroupBarriers<T>*>(memory);
    static_assert(C::kGroups * sizeof(GroupBarriers<T>) <= kBarrierBytes);
    if (thread < C::kGroups) Group<T, swapped, aligned>::prepare_barriers(barriers[thread]);
    __syncthreads();
    constexpr int kComputing = C::kGroups * C::kWarps;
    const int group = warp < kComputing ? warp / C::kWarps : warp - kComputing;
    static_assert(kComputing + C::kGroups <= C::kThreads / 32);
    if (group >= call.groups) return;
    const Group<T, swapped, aligned> mine{
        call, barriers[group], memory + kBarrierBytes + group * C::kGroupBytes, group, lane};
    if (warp < kComputing)
      mine.compute(warp % C::kWarps);
    else
      mine.copy();
  }
#endif
}

}  // namespace chol::cuda::persistent
