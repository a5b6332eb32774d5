// The kernel of a trailing update, over all multiprocessors.
#pragma once

#include "native/update/trailing.cuh"

namespace chol::cuda::update {

/// @tparam AnyCall Call or RectangleCall
template <class T, bool swapped, bool aligned, template <class> class AnyCall>
__global__ void __launch_bounds__(Config<T>::kThreads, 1)
    update_kernel(const __grid_constant__ AnyCall<T> call) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) unsigned char memory[];
  auto& barriers = *reinterpret_cast<Barriers<T>*>(memory);
  static_assert(sizeof(Barriers<T>) <= kBarrierBytes);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) barriers.prepare();
  __syncthreads();
  const int warp = __shfl_sync(kFullWarp, thread / 32, 0);
  const TrailingUpdate<T, swapped, aligned, AnyCall> part{
      call,
      barriers,
      reinterpret_cast<T*>(memory + kBarrierBytes),
      thread,
      static_cast<int>(blockIdx.x),
      static_cast<int>(gridDim.x)};
  part.run(warp);
#endif
}

}  // namespace chol::cuda::update
