// Launches of the kernel, one compile unit a type and storage.
#pragma once

#include "common/launch.hpp"
#include "native/persistent/call.hpp"

namespace chol::cuda::persistent {

/// Properties of the current device that a launch needs.
struct DeviceFacts {
  int number = 0;
  int multiprocessors = 0;
  int shared_bytes = 0;  ///< of a block
  bool is_fit = false;   ///< for the instructions, and to compute in double precision
};

template <class T, bool swapped>
Status run_stored(const Call<T>& call, const DeviceFacts& device, cudaStream_t stream);

}  // namespace chol::cuda::persistent
