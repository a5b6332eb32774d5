// What the driver calls of solve/block/kernel.cuh.
#pragma once

#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Solves by blocks whose warps share the rows, orders up to block_solve_limit().
template <class T, bool kSwapped>
Status run_block_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_block_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_block_solve_stored<T, true>(problem, stream)
                         : run_block_solve_stored<T, false>(problem, stream);
}
/// Largest order that it takes of so many right-hand sides on the current device, in either
/// storage: of one it takes larger ones.
template <class T, bool kSwapped>
int block_solve_limit_stored(int64_t nrhs);
template <class T>
int block_solve_limit(int64_t nrhs) {
  return smaller(block_solve_limit_stored<T, false>(nrhs), block_solve_limit_stored<T, true>(nrhs));
}

}  // namespace chol::cuda
