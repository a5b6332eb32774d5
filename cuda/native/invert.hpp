// potri of one matrix on the device, in place of its factor.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/solve/diagonal_blocks.hpp"

namespace chol::cuda {

/// What is worked out before it goes over the factor.
template <class T>
struct InversionWorkspace {
  T* block = nullptr;   ///< a diagonal block
  T* column = nullptr;  ///< a block column, or block row
  int64_t rows = 0;     ///< of a block column, at a time
  T* part = nullptr;    ///< those, where they do not go over the factor yet
  solve::DiagonalWorkspace<T> diagonal;

  static InversionWorkspace carve(Arena& arena, int64_t n);
};

/// The inverse of the matrix whose factor problem.A is, over the named triangle. Where a diagonal
/// element of the factor is zero, info is the first one's place and nothing is written. Queued.
/// @param blas whose stream is `stream`.
template <class T>
Status invert_in_place(const BatchProblem<T>& problem, const InversionWorkspace<T>& work,
                       Blas& blas, cudaStream_t stream);

}  // namespace chol::cuda
