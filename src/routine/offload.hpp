// potrf and posv of one matrix in host memory on the process's devices, where that is faster.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Whether the problem is one that a device may have: O(1), touches no CUDA.
template <class T>
bool may_offload(const Handle& handle, const BackendSlot& slot, const backend::Problem<T>& problem);

/// Does the problem with the device's help. Returns false, and has touched nothing, when the host
/// in `slot` is to do it alone.
template <class T>
bool run_offloaded(Handle& handle, BackendSlot& slot, const char* function,
                   const backend::Problem<T>& problem, Status* status);

}  // namespace chol::routine
