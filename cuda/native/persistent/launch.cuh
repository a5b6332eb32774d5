// Launches the kernel of one matrix.
#pragma once

#include "native/persistent/kernel.cuh"
#include "native/persistent/launch.hpp"
#include "native/persistent/prepare.cuh"

namespace chol::cuda::persistent {

template <class T>
Status clear_flags(const Call<T>& call, cudaStream_t stream) {
  const Schedule tiles = call.schedule();
  if (tiles.rows == 1) return Status::success();  // the chain only
  return status_of(
      cudaMemsetAsync(call.flags, 0, sizeof(int) * flag_ints(tiles.rows, tiles.columns), stream),
      "flags of one matrix");
}

template <class T, bool swapped, bool aligned>
Status launch_kernel(const Call<T>& call, const DeviceFacts& device, cudaStream_t stream) {
  Status status =
      allow_shared_memory<factor_kernel<T, swapped, aligned>>(device.number, shared_bytes<T>());
  if (status.ok()) status = clear_flags(call, stream);
  if (!status.ok()) return status;
  const int64_t workers = (call.schedule().total() + call.groups - 1) / call.groups;
  const auto blocks = static_cast<unsigned>(smaller<int64_t>(workers + 1, device.multiprocessors));
  factor_kernel<T, swapped, aligned>
      <<<blocks, Config<T>::kThreads, shared_bytes<T>(), stream>>>(call);
  return launched("one matrix");
}

template <class T, bool swapped>
Status run_stored(const Call<T>& call, const DeviceFacts& device, cudaStream_t stream) {
  // An address in device memory, unknown to the host, may be misaligned.
  const bool aligned =
      !call.array && (reinterpret_cast<uintptr_t>(call.A) | call.ld * sizeof(T)) % 16 == 0;
  return aligned ? launch_kernel<T, swapped, true>(call, device, stream)
                 : launch_kernel<T, swapped, sizeof(T) == 16>(call, device, stream);
}

}  // namespace chol::cuda::persistent

#define CHOL_INSTANTIATE_PERSISTENT(swapped, T)                                           \
  template chol::Status chol::cuda::persistent::run_stored<T, swapped>(                   \
      const chol::cuda::persistent::Call<T>&, const chol::cuda::persistent::DeviceFacts&, \
      cudaStream_t);
