// Launches the kernel of one matrix.
#pragma once

#include "native/persistent/kernel.cuh"

namespace chol::cuda::persistent {

template <class T>
Status clear_flags(const Call<T>& call, cudaStream_t stream) {
  const Schedule tiles = call.schedule();
  if (tiles.rows == 1) return Status::success();  // the chain is alone
  return status_of(
      cudaMemsetAsync(call.flags, 0, sizeof(int) * flag_ints(tiles.rows, tiles.columns), stream),
      "flags of one matrix");
}

template <class T, bool swapped>
Status run_stored(const Call<T>& call, cudaStream_t stream) {
  constexpr bool kAlwaysAligned = sizeof(T) == 16;
  const bool aligned = (reinterpret_cast<uintptr_t>(call.A) | call.ld * sizeof(T)) % 16 == 0;
  const int64_t workers = (call.schedule().total() + call.groups - 1) / call.groups;
  const int64_t blocks = smaller(workers + 1, device_attribute(cudaDevAttrMultiProcessorCount));
  const Status status = clear_flags(call, stream);
  if (!status.ok()) return status;
  return launch(
      "one matrix",
      aligned ? factor_kernel<T, swapped, true> : factor_kernel<T, swapped, kAlwaysAligned>,
      static_cast<unsigned>(blocks), Config<T>::kThreads, shared_bytes<T>(), stream, call);
}

}  // namespace chol::cuda::persistent

#define CHOL_INSTANTIATE_PERSISTENT(swapped, T)                         \
  template chol::Status chol::cuda::persistent::run_stored<T, swapped>( \
      const chol::cuda::persistent::Call<T>&, cudaStream_t);
