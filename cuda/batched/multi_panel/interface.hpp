// Interface of the left-looking kernels of several panels a block column.
#pragma once

#include "batched/multi_panel/shapes.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Factors large matrices by wide block columns. @param threads of a block, for which has_wide() is
/// true.
template <class T, bool kSwapped>
Status run_wide_left_looking(const BatchProblem<T>& problem, int threads, cudaStream_t stream);

/// Whether run_wide_left_looking has a kernel of that many threads in that storage.
template <class T>
bool has_wide(bool swapped, int threads) {
  return swapped ? has_threads(WideShapes<T, true>{}, threads)
                 : has_threads(WideShapes<T, false>{}, threads);
}

}  // namespace chol::cuda
