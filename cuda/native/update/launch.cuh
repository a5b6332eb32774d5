// Launches the kernel of a trailing update.
#pragma once

#include "native/persistent/prepare.cuh"
#include "native/update/kernel.cuh"
#include "native/update/launch.hpp"

namespace chol::cuda::update {

template <bool swapped, bool aligned, class T, template <class> class AnyCall>
Status launch_kernel(const AnyCall<T>& call, const persistent::DeviceFacts& device,
                     cudaStream_t stream) {
  constexpr int kBytes = Config<T>::kSharedBytes;
  const Status status =
      persistent::allow_shared_memory<update_kernel<T, swapped, aligned, AnyCall>>(device.number,
                                                                                   kBytes);
  if (!status.ok()) return status;
  const auto blocks =
      static_cast<unsigned>(smaller<int64_t>(call.tiles().total(), device.multiprocessors));
  update_kernel<T, swapped, aligned, AnyCall>
      <<<blocks, Config<T>::kThreads, kBytes, stream>>>(call);
  constexpr bool kRectangle = std::is_same_v<AnyCall<T>, RectangleCall<T>>;
  return launched(kRectangle ? "update of a rectangle" : "trailing update");
}

template <class T, bool swapped>
Status run_stored(const Call<T>& call, const persistent::DeviceFacts& device, cudaStream_t stream) {
  const bool aligned = (reinterpret_cast<uintptr_t>(call.A) | call.ld * sizeof(T)) % 16 == 0;
  return aligned ? launch_kernel<swapped, true>(call, device, stream)
                 : launch_kernel<swapped, sizeof(T) == 16>(call, device, stream);
}

template <class T, bool swapped>
Status run_rectangle(const RectangleCall<T>& call, const persistent::DeviceFacts& device,
                     cudaStream_t stream) {
  const uintptr_t all = reinterpret_cast<uintptr_t>(call.A) |
                        reinterpret_cast<uintptr_t>(call.left) |
                        reinterpret_cast<uintptr_t>(call.right) |
                        uintptr_t(call.ld | call.left_ld | call.right_ld) * sizeof(T);
  return all % 16 == 0 ? launch_kernel<swapped, true>(call, device, stream)
                       : launch_kernel<swapped, sizeof(T) == 16>(call, device, stream);
}

}  // namespace chol::cuda::update

#define CHOL_INSTANTIATE_UPDATE(swapped, T)                                                    \
  template chol::Status chol::cuda::update::run_stored<T, swapped>(                            \
      const chol::cuda::update::Call<T>&, const chol::cuda::persistent::DeviceFacts&,          \
      cudaStream_t);                                                                           \
  template chol::Status chol::cuda::update::run_rectangle<T, swapped>(                         \
      const chol::cuda::update::RectangleCall<T>&, const chol::cuda::persistent::DeviceFacts&, \
      cudaStream_t);
