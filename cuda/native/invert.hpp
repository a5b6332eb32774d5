// potri of one matrix on the device, in place of its factor.
#pragma once

#include "base/arena.hpp"
#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/solve/diagonal_blocks.hpp"

namespace chol::cuda {

/// Intermediate results before they overwrite the factor.
template <class T>
struct InversionWorkspace {
  T* block = nullptr;   ///< a diagonal block
  T* column = nullptr;  ///< a block column, or block row
  int64_t rows = 0;     ///< of a block column, at a time
  T* part = nullptr;    ///< those, if they do not yet overwrite the factor
  solve::DiagonalWorkspace<T> diagonal;

  static InversionWorkspace carve(Arena& arena, int64_t n);
};

/// The inverse of the matrix whose factor problem.A is, over the named triangle. If a diagonal
/// element of the factor is zero, info is the position of the first one and nothing is written.
/// Asynchronous.
/// @param blas whose stream is `stream`.
template <class T>
Status invert_in_place(const BatchProblem<T>& problem, const InversionWorkspace<T>& work,
                       Blas& blas, cudaStream_t stream);

}  // namespace chol::cuda
