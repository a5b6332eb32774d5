// The matrix that a thread block works on.
#pragma once

#include "common/batch_view.cuh"

namespace chol::cuda {

/// Computed again at the end, since no register is left to keep it.
template <class T>
__device__ __forceinline__ unsigned matrix_of_block(const BatchProblem<T>& problem) {
  return problem.sequence ? *const_cast<const volatile unsigned*>(problem.sequence + blockIdx.x)
                          : blockIdx.x;
}

}  // namespace chol::cuda
