// potrf and posv of one matrix in host memory on the process's devices, where that is faster.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Whether the problem is eligible for offload: O(1), no call of CUDA.
template <class T>
bool may_offload(const Handle& handle, const BackendSlot& slot, const backend::Problem<T>& problem);

/// Solves the problem on the device and the host. Returns false, without changes, when the host in
/// `slot` is to do it alone.
template <class T>
bool run_offloaded(Handle& handle, BackendSlot& slot, const char* function,
                   const backend::Problem<T>& problem, Status* status);

}  // namespace chol::routine
