// Alignment of columns for vector loads.
#pragma once

#include "common/batch_view.cuh"

namespace chol::cuda {

/// Whether columns of a batch's matrices are misaligned: not all start at multiples of 16 bytes.
template <class T>
bool is_misaligned(const BatchProblem<T>& problem) {
  return !problem.orders && !problem.A.lds && (problem.A.ld | problem.n) * sizeof(T) % 16 != 0;
}

}  // namespace chol::cuda
