// What the kernels that give each matrix a thread block have in common.
#pragma once

#include "common/view.cuh"

namespace chol::cuda {

/// Asked for again at the end, since no register is left to keep it in.
template <class T>
__device__ __forceinline__ unsigned matrix_of_block(const BatchProblem<T>& problem) {
  return problem.sequence ? *const_cast<const volatile unsigned*>(problem.sequence + blockIdx.x)
                          : blockIdx.x;
}

}  // namespace chol::cuda
