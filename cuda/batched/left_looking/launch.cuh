// The launches of left_looking/kernel.cuh.
#pragma once

#include <climits>

#include "batched/left_looking/interface.hpp"
#include "batched/left_looking/kernel.cuh"
#include "common/alignment.hpp"
#include "common/tensor_cores.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, class Shape, bool kSolves>
Status launch_left_looking(const BatchProblem<T>& problem, bool bordered, cudaStream_t stream) {
  // Matrices of different orders are sorted by kernels just before it.
  const bool early = problem.sequence != nullptr;
  return launch_as(early, "left looking", left_looking_kernel<T, kSwapped, Shape, kSolves>,
                   static_cast<unsigned>(problem.count), 32 * Shape::kWarps,
                   LeftLooking<T, kSwapped, Shape, kSolves>::bytes(problem.n, bordered), stream,
                   problem, bordered);
}

/// A shape that asks for more shared memory than the device has, that multiplies by what this has
/// not at full rate, or that this storage does not have, gives way to another, one of more threads
/// if there is one. One that solves along does not: then there is another way. No more does one
/// with a border, which an order of whole block columns and one more has.
template <Beside kBeside, class T, bool kSwapped>
Status run_left_looking_stored(const BatchProblem<T>& problem, int threads, int blocks,
                               cudaStream_t stream) {
  constexpr bool kSolves = kBeside != Beside::nothing, kBordered = kBeside == Beside::border;
  using List = std::conditional_t<kSwapped, typename LeftLookingShapes<T>::RowLeftLooking,
                                  typename LeftLookingShapes<T>::ColumnLeftLooking>;
  using Anywhere = std::conditional_t<kSwapped, typename LeftLookingShapes<T>::RowMisaligned,
                                      typename LeftLookingShapes<T>::ColumnMisaligned>;
  using Bordered = std::conditional_t<kBordered && !kSwapped,
                                      typename LeftLookingShapes<T>::ColumnBordered, ShapeList<>>;
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_tensor = multiplies_by_tensor<T>();
  Status status;
  const auto try_shape = [&]<class S>(S, int least, int most, int its_blocks) {
    using Its = typename S::Shape;
    constexpr bool kHas = !kSolves || kSolvesAlong<Its>;
    if (!kHas || 32 * S::kPlanWarps < least || 32 * S::kPlanWarps > most ||
        (its_blocks != 0 && its_blocks != S::kPlanBlocks) ||
        (Its::kBy == ProductBy::tensor && !has_tensor) ||
        (kBordered && problem.n % Its::kColumns != 1) ||
        LeftLooking<T, kSwapped, Its, kSolves>::bytes(problem.n, kBordered) > limit)
      return false;
    if constexpr (kHas)
      status = launch_left_looking<T, kSwapped, Its, kSolves>(problem, kBordered, stream);
    return true;
  };
  const int most = threads == 0 ? INT_MAX : threads;
  const auto try_named = [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}, threads, most, blocks) || ...);
  };
  const auto try_list = [&]<class... S>(ShapeList<S...> list) {
    if (try_named(list) || (try_shape(S{}, threads, most, 0) || ...)) return true;
    if (kSolves) return false;
    return (try_shape(S{}, threads, INT_MAX, 0) || ...) || (try_shape(S{}, 0, INT_MAX, 0) || ...);
  };
  const bool found =
      blocks != 0 && (try_named(Bordered{}) || (is_misaligned(problem) && try_named(Anywhere{})));
  return found || try_list(List{})
             ? status
             : Status::error(Status::kNotSupported, "left looking: no kernel of %d threads",
                             threads);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_LEFT_LOOKING(beside, swapped, T)                      \
  template chol::Status                                                        \
  chol::cuda::run_left_looking_stored<chol::cuda::Beside::beside, T, swapped>( \
      const BatchProblem<T>&, int, int, cudaStream_t);
