// The launches of left_looking.cuh.
#pragma once

#include <climits>

#include "batched/kernels.hpp"
#include "batched/left_looking.cuh"

namespace chol::cuda {

template <class T, bool kSwapped, class Shape>
using LeftLookingOf = LeftLooking<T, kSwapped, Shape::kWarps, Shape::kDepth, Shape::kPastFirst>;

template <class T, bool kSwapped, class Shape>
Status launch_left_looking(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Matrix = LeftLookingOf<T, kSwapped, Shape>;
  return launch("left looking",
                left_looking_kernel<T, kSwapped, Shape::kWarps, Shape::kDepth, Shape::kBlocks,
                                    Shape::kPastFirst>,
                static_cast<unsigned>(problem.count), 32 * Shape::kWarps, Matrix::kBytes, stream,
                problem, Matrix::kStaging);
}

/// A shape that asks for more shared memory than the device has, or that this storage does not
/// have, gives way to another, one of more threads if there is one; the factor has the same bits.
template <class T, bool kSwapped>
Status run_left_looking(const BatchProblem<T>& problem, int threads, int blocks,
                        cudaStream_t stream) {
  using List = std::conditional_t<kSwapped, typename Shapes<T>::RowLeftLooking,
                                  typename Shapes<T>::ColumnLeftLooking>;
  const auto limit = static_cast<size_t>(block_shared_limit());
  Status status;
  const auto try_shape = [&]<class S>(S, int least, int most, int its_blocks) {
    if (32 * S::kWarps < least || 32 * S::kWarps > most ||
        (its_blocks != 0 && its_blocks != S::kBlocks) ||
        LeftLookingOf<T, kSwapped, S>::kBytes > limit)
      return false;
    status = launch_left_looking<T, kSwapped, S>(problem, stream);
    return true;
  };
  const bool found = [&]<class... S>(ShapeList<S...>) {
    const int most = threads == 0 ? INT_MAX : threads;
    return (try_shape(S{}, threads, most, blocks) || ...) ||
           (try_shape(S{}, threads, most, 0) || ...) ||
           (try_shape(S{}, threads, INT_MAX, 0) || ...) || (try_shape(S{}, 0, INT_MAX, 0) || ...);
  }(List{});
  return found ? status
               : Status::error(CHOL_STATUS_NOT_SUPPORTED, "left looking: no kernel of %d threads",
                               threads);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_LEFT_LOOKING(swapped, T)                                                  \
  template chol::Status chol::cuda::run_left_looking<T, swapped>(const BatchProblem<T>&, int, int, \
                                                                 cudaStream_t);
