// One call: plan from the tuning store, workspace, backend, trace.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Runs a problem whose arguments were checked on the backend in `slot`.
/// @param function the public name, for messages and the trace.
template <class T>
Status run(Handle& handle, BackendSlot& slot, const char* function,
           const backend::Problem<T>& problem);

}  // namespace chol::routine
