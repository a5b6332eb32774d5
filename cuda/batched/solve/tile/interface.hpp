// Interface of the solves by tiles of a triangle in shared memory.
#pragma once

#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves with the triangle in shared memory, of matrices stored by columns or, with kSwapped, by
/// rows. @return NOT_SUPPORTED when no shape fits.
template <class T, bool kSwapped>
Status run_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_solve_stored<T, true>(problem, stream)
                         : run_solve_stored<T, false>(problem, stream);
}
/// Largest order of run_solve on the device, the same for either storage.
template <class T, bool kSwapped>
int solve_limit_stored(const DeviceLimits& device);
template <class T>
int solve_limit(const DeviceLimits& device) {
  return solve_limit_stored<T, false>(device);
}

}  // namespace chol::cuda
