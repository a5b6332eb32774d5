// Interface of the kernels of matrices in registers.
#pragma once

#include "batched/register/shapes.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Small orders, whole matrices in registers, stored by columns or, with kSwapped, by rows. A
/// factorization checks the arguments of a variable batch itself if they are unchecked. @param
/// lanes a matrix, or 0 for the first shape.
/// @return NOT_SUPPORTED when no shape fits.
template <SmallTask kTask, class T, bool kSwapped>
Status run_small_stored(const BatchProblem<T>& problem, int lanes, cudaStream_t stream);
template <SmallTask kTask, class T>
Status run_small(const BatchProblem<T>& problem, int lanes, cudaStream_t stream) {
  return problem.swapped ? run_small_stored<kTask, T, true>(problem, lanes, stream)
                         : run_small_stored<kTask, T, false>(problem, lanes, stream);
}

/// Factors a variable batch of orders up to VbatchedRegisterShape<T>::kOrder, and checks its
/// arguments itself if they are unchecked.
template <class T, bool kSwapped>
Status run_vbatched_register_stored(const BatchProblem<T>& problem, cudaStream_t stream);
template <class T>
Status run_vbatched_register(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.swapped ? run_vbatched_register_stored<T, true>(problem, stream)
                         : run_vbatched_register_stored<T, false>(problem, stream);
}
/// Largest order that run_small takes with that many lanes (0: any).
template <SmallTask kTask, class T>
int small_limit(int lanes) {
  return []<class... S>(ShapeList<S...>, int wanted) {
    int limit = 0;
    const auto consider = [&](int order, int its_lanes) {
      if ((wanted == 0 || wanted == its_lanes) && order > limit) limit = order;
    };
    (consider(S::kOrder, S::kLanes), ...);
    return limit;
  }(SmallShapes<kTask, T>{}, lanes);
}

}  // namespace chol::cuda
