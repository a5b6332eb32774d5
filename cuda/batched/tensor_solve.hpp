// What the driver calls of tensor_solve.cuh.
#pragma once

#include "common/launch.hpp"
#include "common/view.cuh"

namespace chol::cuda {

/// Solves for several right-hand sides by tensor cores, orders up to tensor_solve_limit().
template <class T, bool kSwapped>
Status run_tensor_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_tensor_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_tensor_solve_stored<T, true>(problem, stream)
                         : run_tensor_solve_stored<T, false>(problem, stream);
}
/// Largest order that it takes on the current device, 0 where the cores do not multiply what T is
/// summed up in.
template <class T>
int tensor_solve_limit();

}  // namespace chol::cuda
