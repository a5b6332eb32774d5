// Launches the kernels of a solve with one matrix.
#pragma once

#include "native/solve/kernel.cuh"
#include "native/solve/launch.hpp"

namespace chol::cuda::solve {

template <class T, bool swapped>
__global__ void __launch_bounds__(Config<T>::kThreads)
    invert_tiles_kernel(Factor<T> factor, T* inverses, int64_t pitch) {
  using C = Config<T>;
  using Tiles = Tile<T, swapped, !swapped>;
  extern __shared__ __align__(128) unsigned char memory[];
  T* const tile = reinterpret_cast<T*>(memory);
  const int thread = static_cast<int>(threadIdx.x), strip = static_cast<int>(blockIdx.x);
  Tiles::read_diagonal(tile, factor, strip, thread);
  __syncthreads();
  Tiles::invert(tile, thread);
  T* const to = inverses + int64_t(strip) * C::kOrder * (pitch + 1);
  for (int e = thread; e < C::kOrder * C::kOrder; e += C::kThreads) {
    const int line = e / C::kOrder, position = e % C::kOrder;
    to[line * pitch + position] = tile[line * Tiles::kPitch + position];
  }
}

template <class T, bool swapped, int kColumns, int kLink>
Status run_columns(const Call<T>& call, int multiprocessors, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(smaller(call.order().count(), multiprocessors));
  return launch("one matrix, solve", solve_kernel<T, swapped, kColumns, kLink>, dim3(blocks),
                Config<T>::kThreads, Columns<T, kColumns, kLink>::kSharedBytes, stream, call);
}

template <class T, bool swapped>
Status run_strips(const Call<T>& call, int link, int multiprocessors, cudaStream_t stream) {
  static_assert(kernel_columns<T>(kMostColumns, 1) == kMostColumns);
  const int columns = kernel_columns<T>(call.nrhs, link);
  Status status;
  [&]<class... Built>(ShapeList<Built...>) {
    ((columns == Built::kColumns && link == Built::kLink &&
      (status =
           run_columns<T, swapped, Built::kColumns, Built::kLink>(call, multiprocessors, stream),
       true)) ||
     ...);
  }(Shapes<T>{});
  return status;
}

template <class T, bool swapped>
Status invert_tiles(const Factor<T>& factor, T* inverses, int64_t pitch, cudaStream_t stream) {
  const auto strips = static_cast<unsigned>((factor.n + Config<T>::kOrder - 1) / Config<T>::kOrder);
  return launch("one matrix, inverses", invert_tiles_kernel<T, swapped>, dim3(strips),
                Config<T>::kThreads, Config<T>::kTile * sizeof(T), stream, factor, inverses, pitch);
}

}  // namespace chol::cuda::solve

#define CHOL_INSTANTIATE_ONE_SOLVE(swapped, T)                       \
  template chol::Status chol::cuda::solve::run_strips<T, swapped>(   \
      const chol::cuda::solve::Call<T>&, int, int, cudaStream_t);    \
  template chol::Status chol::cuda::solve::invert_tiles<T, swapped>( \
      const chol::cuda::solve::Factor<T>&, T*, int64_t, cudaStream_t);
