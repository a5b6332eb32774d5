// Launches the kernel of a trailing update.
#pragma once

#include "native/persistent/prepare.cuh"
#include "native/update/kernel.cuh"
#include "native/update/launch.hpp"

namespace chol::cuda::update {

template <class T, bool swapped, bool aligned>
Status launch_kernel(const Call<T>& call, const persistent::DeviceFacts& device,
                     cudaStream_t stream) {
  constexpr int kBytes = Config<T>::kSharedBytes;
  const Status status =
      persistent::allow_shared_memory<update_kernel<T, swapped, aligned>>(device.number, kBytes);
  if (!status.ok()) return status;
  const auto blocks =
      static_cast<unsigned>(smaller<int64_t>(call.tiles().total(), device.multiprocessors));
  update_kernel<T, swapped, aligned><<<blocks, Config<T>::kThreads, kBytes, stream>>>(call);
  return launched("trailing update");
}

template <class T, bool swapped>
Status run_stored(const Call<T>& call, const persistent::DeviceFacts& device, cudaStream_t stream) {
  const bool aligned = (reinterpret_cast<uintptr_t>(call.A) | call.ld * sizeof(T)) % 16 == 0;
  return aligned ? launch_kernel<T, swapped, true>(call, device, stream)
                 : launch_kernel<T, swapped, sizeof(T) == 16>(call, device, stream);
}

}  // namespace chol::cuda::update

#define CHOL_INSTANTIATE_UPDATE(swapped, T)                                           \
  template chol::Status chol::cuda::update::run_stored<T, swapped>(                   \
      const chol::cuda::update::Call<T>&, const chol::cuda::persistent::DeviceFacts&, \
      cudaStream_t);
