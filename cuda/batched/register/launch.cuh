// The launches of register/kernel.cuh.
#pragma once

#include "batched/register/interface.hpp"
#include "batched/register/kernel.cuh"

namespace chol::cuda {

template <class T, class Shape, SmallTask kTask, bool kSwapped>
Status launch_small(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr int kLanes = Shape::kLanes;
  constexpr int64_t kMatrices = Shape::kWarps * (32 / kLanes);
  const auto blocks = static_cast<unsigned>((problem.count + kMatrices - 1) / kMatrices);
  return launch(
      "small",
      small_kernel<T, kSmallOrder<Shape>, kLanes, Shape::kWarps, Shape::kBlocks, kTask, kSwapped>,
      blocks, 32 * Shape::kWarps, 0, stream, problem);
}

template <SmallTask kTask, class T, bool kSwapped>
Status run_small_stored(const BatchProblem<T>& problem, int lanes, cudaStream_t stream) {
  Status status;
  const auto try_shape = [&]<class S>(S) {
    if (problem.n < S::kLeast || problem.n > S::kOrder || (lanes != 0 && lanes != S::kLanes))
      return false;
    status = launch_small<T, S, kTask, kSwapped>(problem, stream);
    return true;
  };
  const auto try_list = [&]<class... S>(ShapeList<S...>) { return (try_shape(S{}) || ...); };
  bool found = false;
  if constexpr (kTask == SmallTask::solve) found = problem.nrhs == 1 && try_list(OneRhsShapes<T>{});
  found = found || try_list(SmallShapes<kTask, T>{});
  return found ? status
               : Status::error(Status::kNotSupported, "small: no kernel for order %d",
                               static_cast<int>(problem.n));
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_SMALL(task, swapped, T)                                               \
  template chol::Status chol::cuda::run_small_stored<chol::cuda::SmallTask::task, T, swapped>( \
      const BatchProblem<T>&, int, cudaStream_t);
