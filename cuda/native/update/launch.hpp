// Launches of the trailing update, one compile unit a type and storage.
#pragma once

#include "native/persistent/launch.hpp"
#include "native/update/call.hpp"

namespace chol::cuda::update {

template <class T, bool swapped>
Status run_stored(const Call<T>& call, const persistent::DeviceFacts& device, cudaStream_t stream);

template <class T, bool swapped>
Status run_rectangle(const RectangleCall<T>& call, const persistent::DeviceFacts& device,
                     cudaStream_t stream);

}  // namespace chol::cuda::update
