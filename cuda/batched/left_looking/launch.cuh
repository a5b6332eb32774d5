// The launches of left_looking/kernel.cuh.
#pragma once

#include "batched/left_looking/interface.hpp"
#include "batched/left_looking/kernel.cuh"
#include "batched/left_looking/shapes.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, class Shape, bool kSolves>
Status launch_left_looking(const BatchProblem<T>& problem, bool bordered, cudaStream_t stream) {
  // Matrices of different orders are sorted by kernels directly before.
  const bool early = problem.sequence != nullptr;
  return launch_as(early, "left looking", left_looking_kernel<T, kSwapped, Shape, kSolves>,
                   static_cast<unsigned>(problem.count), 32 * Shape::kWarps,
                   LeftLooking<T, kSwapped, Shape, kSolves>::bytes(problem.n, bordered), stream,
                   problem, bordered);
}

/// Calls body(shape) with the kernel of those parameters; returns whether it is built.
template <class T, bool kSwapped, bool kFused, class Body>
bool for_left_looking_shape(const LeftLookingParams& params, Body&& body) {
  const auto take = [&]<class Shape>(Shape) {
    if constexpr (!kFused || kSolvesAlong<Shape>)
      if (Shape::kParams == params) {
        body(Shape{});
        return true;
      }
    return false;
  };
  return [&]<class... Shape>(ShapeList<Shape...>) {
    return (take(Shape{}) || ...);
  }(LeftLookingList<T, kSwapped, kFused>{});
}

template <bool kFused, class T, bool kSwapped>
Status run_left_looking_stored(const BatchProblem<T>& problem, const LeftLookingParams& params,
                               bool bordered, cudaStream_t stream) {
  Status status = Status::error(Status::kNotSupported, "left looking: no such kernel");
  for_left_looking_shape<T, kSwapped, kFused>(params, [&]<class Shape>(Shape) {
    status = launch_left_looking<T, kSwapped, Shape, kFused>(problem, bordered, stream);
  });
  return status;
}

template <bool kFused, class T, bool kSwapped>
bool can_run_left_looking_stored(const LeftLookingParams& params, int64_t n, bool bordered,
                                 const DeviceLimits& device) {
  if (params.mma && !device.multiplies_by_tensor<T>()) return false;
  const auto limit = static_cast<size_t>(device.block_bytes);
  bool fits = false;
  for_left_looking_shape<T, kSwapped, kFused>(params, [&]<class Shape>(Shape) {
    fits = LeftLooking<T, kSwapped, Shape, kFused>::bytes(n, bordered) <= limit;
  });
  return fits;
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_LEFT_LOOKING(fused, swapped, T)                                 \
  template chol::Status chol::cuda::run_left_looking_stored<fused, T, swapped>(          \
      const BatchProblem<T>&, const chol::cuda::LeftLookingParams&, bool, cudaStream_t); \
  template bool chol::cuda::can_run_left_looking_stored<fused, T, swapped>(              \
      const chol::cuda::LeftLookingParams&, int64_t, bool, const chol::cuda::DeviceLimits&);
