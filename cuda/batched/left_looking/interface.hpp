// What drivers call of the left-looking kernels.
#pragma once

#include <type_traits>

#include "batched/left_looking/shapes.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// What left_looking/kernel.cuh works on along with a matrix: nothing, the one right-hand side that
/// each has at most, or the last row of each, all being of one order.
enum class Beside { nothing, solution, border };
/// Factors matrices of any order. NOT_SUPPORTED where no kernel has what is beside. @param threads
/// of a block, or 0 for the first shape. @param blocks a multiprocessor, where there are several
/// shapes of so many threads; 0 for the first.
template <Beside kBeside, class T, bool kSwapped>
Status run_left_looking_stored(const BatchProblem<T>& problem, int threads, int blocks,
                               cudaStream_t stream);
template <Beside kBeside, class T>
Status run_left_looking(const BatchProblem<T>& problem, int threads, int blocks,
                        cudaStream_t stream) {
  return problem.swapped
             ? run_left_looking_stored<kBeside, T, true>(problem, threads, blocks, stream)
             : run_left_looking_stored<kBeside, T, false>(problem, threads, blocks, stream);
}

/// Whether run_left_looking has a kernel of that many threads (0: any).
template <class T>
bool has_left_looking(int threads) {
  return threads == 0 || has_threads(typename LeftLookingShapes<T>::ColumnLeftLooking{}, threads);
}

}  // namespace chol::cuda
