// The launches of warp/block_kernel.cuh.
#pragma once

#include <climits>

#include "common/tensor_cores.hpp"
#include "interleaved/warp/block_kernel.cuh"
#include "interleaved/warp/shapes.hpp"

namespace chol::cuda {

/// Calls visit(shape, threads and shared memory of a block) of such a kernel for
/// that order, if it is built: among several the first whose number of blocks fits the shared
/// memory of a multiprocessor, or the one for the fewest. @return whether it is built.
template <InterleavedTask kTask, class T, class Visit>
bool with_warp_factor(int64_t n, const WarpsParams& params, Visit&& visit) {
  constexpr int64_t kOfBlock = 1024;  // reserved for each block
  if (n < 1 || n > kWarpFactorOrder || !multiplies_by_tensor<T>()) return false;
  const int64_t memory = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  const auto is_meant = [&]<class S>(S) {
    return params.matrices == S::kMatrices && params.warps == S::kWarps;
  };
  const auto consider = [&]<class S>(S shape, int fewest) {
    using Block = WarpFactorBlock<T, S, kTask>;
    const int64_t bytes = Block::bytes(n);
    if (!is_meant(shape) || (S::kBlocks > fewest && S::kBlocks * (bytes + kOfBlock) > memory))
      return false;
    visit(shape, Block::kThreads, bytes);
    return true;
  };
  return [&]<class... S>(ShapeList<S...>) {
    int fewest = INT_MAX;
    ((fewest = is_meant(S{}) ? smaller(fewest, S::kBlocks) : fewest), ...);
    return (consider(S{}, fewest) || ...);
  }(WarpShapes<kTask, T>{});
}

template <InterleavedTask kTask, class T>
int64_t warp_factor_need(int64_t n, const WarpsParams& params) {
  int64_t need = INT64_MAX;
  with_warp_factor<kTask, T>(n, params, [&](auto, int, int64_t bytes) { need = bytes; });
  return need;
}

template <InterleavedTask kTask, class T>
Status run_warp_factor(const InterleavedCall<T>& call, const WarpsParams& params,
                       cudaStream_t stream) {
  Status status;
  const auto launch_shape = [&]<class S>(S, int threads, int64_t bytes) {
    const int64_t blocks = (call.batch + S::kMatrices - 1) / S::kMatrices;
    status =
        launch("interleaved, warps", warp_factor_kernel<T, S, kTask>, static_cast<unsigned>(blocks),
               threads, static_cast<size_t>(bytes), stream, call);
  };
  return with_warp_factor<kTask, T>(call.n, params, launch_shape)
             ? status
             : Status::error(Status::kNotSupported,
                             "interleaved: no kernel of %d matrices a block, %d warps each",
                             params.matrices, params.warps);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_WARP_FACTOR(task, T)                                  \
  template chol::Status chol::cuda::run_warp_factor<chol::cuda::InterleavedTask::task, T>( \
      const InterleavedCall<T>&, const WarpsParams&, cudaStream_t);                        \
  template int64_t chol::cuda::warp_factor_need<chol::cuda::InterleavedTask::task, T>(     \
      int64_t, const WarpsParams&);
