// The launches of multi_panel/kernel.cuh.
#pragma once

#include "batched/multi_panel/interface.hpp"
#include "batched/multi_panel/kernel.cuh"
#include "common/tensor_cores.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, class Shape>
Status launch_wide_left_looking(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr size_t kBytes = WideLayout<T, kSwapped, Shape>::kBytes;
  return launch("wide left looking", wide_left_looking_kernel<T, kSwapped, Shape>,
                static_cast<unsigned>(problem.count), 32 * Shape::kWarps, kBytes, stream, problem);
}

/// NOT_SUPPORTED also where the device lacks the resources for that kernel.
template <class T, bool kSwapped>
Status run_wide_left_looking(const BatchProblem<T>& problem, int threads, cudaStream_t stream) {
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_tensor = multiplies_by_tensor<T>();
  Status status;
  const auto try_shape = [&]<class S>(S) {
    if (threads != 32 * S::kWarps || (S::kBy == ProductBy::tensor && !has_tensor) ||
        WideLayout<T, kSwapped, S>::kBytes > limit)
      return false;
    status = launch_wide_left_looking<T, kSwapped, S>(problem, stream);
    return true;
  };
  const bool found = [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}) || ...);
  }(WideShapes<T, kSwapped>{});
  return found ? status
               : Status::error(Status::kNotSupported,
                               "wide left looking: no kernel of %d threads here", threads);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_WIDE_LEFT_LOOKING(swapped, T)                                             \
  template chol::Status chol::cuda::run_wide_left_looking<T, swapped>(const BatchProblem<T>&, int, \
                                                                      cudaStream_t);
