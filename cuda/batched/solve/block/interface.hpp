// Interface of solve/block/kernel.cuh.
#pragma once

#include "batched/solve/block/params.hpp"
#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves by blocks whose warps share the rows.
template <class T, bool kSwapped>
Status run_block_solve_stored(const BatchProblem<T>& problem, const BlockSolveParams& params,
                              cudaStream_t stream);
template <class T>
Status run_block_solve(const BatchProblem<T>& problem, const BlockSolveParams& params,
                       cudaStream_t stream) {
  return problem.swapped ? run_block_solve_stored<T, true>(problem, params, stream)
                         : run_block_solve_stored<T, false>(problem, params, stream);
}
/// Whether that kernel is built and the device has the resources for order n.
template <class T, bool kSwapped>
bool can_run_block_solve_stored(const BlockSolveParams& params, int64_t n,
                                const DeviceLimits& device);
template <class T>
bool can_run_block_solve(const BlockSolveParams& params, int64_t n, bool upper,
                         const DeviceLimits& device) {
  return upper ? can_run_block_solve_stored<T, true>(params, n, device)
               : can_run_block_solve_stored<T, false>(params, n, device);
}

}  // namespace chol::cuda
