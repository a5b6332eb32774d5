// One call: plan from the tuning store, workspace, backend, trace.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Runs a problem whose arguments were checked where its arrays lie: on the backend in `slot`, or,
/// of host arrays, on a device as far as the handle's offload wants it.
/// @param function the public name, for messages and the trace.
template <class T>
Status run(Handle& handle, BackendSlot& slot, const char* function,
           const backend::Problem<T>& problem);

/// Whether the backend in `slot` can have the workspace of a problem; a run of it then needs no
/// other.
template <class T>
bool reserve(Handle& handle, BackendSlot& slot, const backend::Problem<T>& problem);

/// Runs a problem on the backend in `slot`.
template <class T>
Status run_on(Handle& handle, BackendSlot& slot, const char* function,
              const backend::Problem<T>& problem);

}  // namespace chol::routine
