// A X = B with the factor of one matrix: few right-hand sides by one kernel over all
// multiprocessors, more by inverted diagonal blocks and products.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"
#include "native/solve/diagonal_blocks.hpp"
#include "native/solve/params.hpp"

namespace chol::cuda::solve {

template <class T>
struct Workspace {
  char* published = nullptr;
  size_t published_bytes = 0;
  T* near_tiles = nullptr;  ///< of long links
  DiagonalWorkspace<T> diagonal;
  int64_t columns = 0;  ///< right-hand sides at a time

  static Workspace carve(Arena& arena, const Params& params, int64_t n, int64_t nrhs);
};

/// Whether the current device can run it.
template <class T>
bool can_run();
/// Whether it is also built with these parameters.
template <class T>
bool can_run(const Params& params);

/// B := inv(A) B. @param info of the factorization, for few right-hand sides: B is not changed
/// unless it is 0. May be nullptr.
template <class T>
Status run(const BatchProblem<T>& problem, const Params& params, const int* info,
           const Workspace<T>& work, Blas& blas, cudaStream_t stream);

}  // namespace chol::cuda::solve
