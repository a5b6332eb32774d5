// The launches of solve/left_looking_mma/kernel.cuh.
#pragma once

#include "batched/solve/left_looking_mma/interface.hpp"
#include "batched/solve/left_looking_mma/kernel.cuh"

namespace chol::cuda {

template <class T, bool kSwapped, class Shape>
Status launch_tensor_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Layout = TensorSolveLayout<T, Shape::kWarps>;
  const int64_t chunks = (problem.nrhs + Layout::kColumns - 1) / Layout::kColumns;
  return launch("tensor solve", tensor_solve_kernel<T, kSwapped, Shape>,
                static_cast<unsigned>(problem.count * chunks), Shape::kThreads,
                Layout::bytes(static_cast<int>(problem.n)), stream, problem, chunks);
}

template <class T, bool kSwapped>
Status run_tensor_solve_stored(const BatchProblem<T>& problem, int threads, cudaStream_t stream) {
  return threads == SmallTensorSolve<T>::kThreads
             ? launch_tensor_solve<T, kSwapped, SmallTensorSolve<T>>(problem, stream)
             : launch_tensor_solve<T, kSwapped, LargeTensorSolve>(problem, stream);
}

/// Shared memory bounds the order.
template <class T>
int tensor_solve_limit(const DeviceLimits& device) {
  if (!device.multiplies_by_tensor<T>()) return 0;
  int n = 0;
  while (int64_t(TensorSolveLayout<T, LargeTensorSolve::kWarps>::bytes(n + 32)) <=
         device.block_bytes)
    n += 32;
  return n;
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_TENSOR_SOLVE(T)                                                           \
  template chol::Status chol::cuda::run_tensor_solve_stored<T, false>(const BatchProblem<T>&, int, \
                                                                      cudaStream_t);               \
  template chol::Status chol::cuda::run_tensor_solve_stored<T, true>(const BatchProblem<T>&, int,  \
                                                                     cudaStream_t);                \
  template int chol::cuda::tensor_solve_limit<T>(const chol::cuda::DeviceLimits&);
