// Interface of solve/left_looking_mma/kernel.cuh.
#pragma once

#include "common/batch_view.cuh"
#include "common/device_limits.hpp"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves by tensor cores, orders up to tensor_solve_limit().
/// @param threads of a block, has_tensor_solve(threads).
template <class T, bool kSwapped>
Status run_tensor_solve_stored(const BatchProblem<T>& problem, int threads, cudaStream_t stream);
template <class T>
Status run_tensor_solve(const BatchProblem<T>& problem, int threads, cudaStream_t stream) {
  return problem.swapped ? run_tensor_solve_stored<T, true>(problem, threads, stream)
                         : run_tensor_solve_stored<T, false>(problem, threads, stream);
}
inline bool has_tensor_solve(int threads) { return threads == 128 || threads == 256; }
/// Largest order on the device, 0 if tensor cores do not multiply the accumulator type of T.
template <class T>
int tensor_solve_limit(const DeviceLimits& device);

}  // namespace chol::cuda
