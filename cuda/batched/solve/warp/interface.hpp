// Interface of the solves by single warps.
#pragma once

#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves by warps that have all rows of their right-hand sides, orders up to warp_solve_limit().
template <class T, bool kSwapped>
Status run_warp_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_warp_solve_stored<T, true>(problem, stream)
                         : run_warp_solve_stored<T, false>(problem, stream);
}
/// Largest order that it takes on the device, in either storage.
template <class T, bool kSwapped>
int warp_solve_limit_stored(const DeviceLimits& device);
template <class T>
int warp_solve_limit(const DeviceLimits& device) {
  return smaller(warp_solve_limit_stored<T, false>(device),
                 warp_solve_limit_stored<T, true>(device));
}

}  // namespace chol::cuda
