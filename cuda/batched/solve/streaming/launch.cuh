// The launches of solve/streaming/kernel.cuh.
#pragma once

#include "batched/solve/streaming/interface.hpp"
#include "batched/solve/streaming/kernel.cuh"

namespace chol::cuda {

template <class T, int kColumns, bool kInverse>
Status launch_stream_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr int kBytes = sizeof(StreamShared<T, kColumns>);
  const int64_t chunks = (problem.nrhs + kColumns - 1) / kColumns;
  if (chunks == 0) return Status::success();
  return launch("solve", stream_solve_kernel<T, kColumns, kInverse>,
                static_cast<unsigned>(problem.count * chunks), 32 * kStreamWarps, kBytes, stream,
                problem, chunks);
}

template <class T>
Status run_stream_solve(const BatchProblem<T>& problem, bool inverse, cudaStream_t stream) {
  if (inverse) return launch_stream_solve<T, 4, true>(problem, stream);
  return problem.nrhs == 1   ? launch_stream_solve<T, 1, false>(problem, stream)
         : problem.nrhs <= 4 ? launch_stream_solve<T, 4, false>(problem, stream)
                             : launch_stream_solve<T, kStreamMany<T>, false>(problem, stream);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_STREAM_SOLVE(T) \
  template chol::Status chol::cuda::run_stream_solve<T>(const BatchProblem<T>&, bool, cudaStream_t);
