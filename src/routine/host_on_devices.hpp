// One matrix in host memory, worked on by the named devices of a handle. Calls are synchronous.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Whether the handle's devices can do the routine for arrays in host memory.
bool works_on_host_arrays(const Handle& handle, Routine routine);

/// Runs a problem whose arrays, including info and results, are in host memory.
template <class T>
Status run_host_on_devices(Handle& handle, const char* function,
                           const backend::Problem<T>& problem);

/// potrf of an offloaded matrix (Problem::factored) over devices that no handle names. A minor that
/// is not positive definite is an error here: the host then continues before it and finds the same
/// minor.
template <class T>
Status run_offloaded_on_devices(Handle::Devices devices, int threads, const char* function,
                                const backend::Problem<T>& problem);

}  // namespace chol::routine
