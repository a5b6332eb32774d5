// One matrix in host memory, worked on by the named devices of a handle. Calls return when done.
#pragma once

#include "backend/backend.hpp"
#include "routine/handle.hpp"

namespace chol::routine {

/// Whether the handle's devices can do the routine for arrays in host memory.
bool works_on_host_arrays(const Handle& handle, Routine routine);

/// Runs a problem whose arrays, info and results too, lie in host memory.
template <class T>
Status run_host_on_devices(Handle& handle, const char* function,
                           const backend::Problem<T>& problem);

/// potrf of an offloaded matrix (Problem::factored) over devices that no handle names. A minor that
/// is not positive definite fails: the host, which goes on before it, finds it as it always does.
template <class T>
Status run_offloaded_on_devices(Handle::Devices devices, int threads, const char* function,
                                const backend::Problem<T>& problem);

}  // namespace chol::routine
