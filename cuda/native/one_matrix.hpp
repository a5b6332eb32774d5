// One matrix too large for one thread block: recursion over block columns whose leaves are the
// kernel of persistent/ or the panel and strip kernels, everything between them products by cuBLAS.
// No value returns to the host.
#pragma once

#include "base/arena.hpp"
#include "common/view.cuh"
#include "native/blas.hpp"
#include "native/column_watch.hpp"
#include "native/invert.hpp"
#include "native/method.hpp"
#include "native/persistent/persistent.hpp"

namespace chol::cuda {

template <class T>
struct OneMatrixWorkspace {
  T* inverses = nullptr;  ///< inverted diagonal tiles of the block column that is factored
  T* copy = nullptr;      ///< posv: the solution, until info is known
  InversionWorkspace<T> inversion;  ///< potri
  persistent::Workspace<T> persistent;

  static OneMatrixWorkspace carve(Arena& arena, const Plan& plan, int64_t n,
                                  int64_t copied_columns);
};

/// Whether a plan of the method `persistent` can run on the current device.
template <class T>
bool accepts_persistent(const Plan& plan);

/// @param plan of the method `blocked`, or `persistent`, in whose place the other runs where the
/// device cannot.
/// @param watch is told, block column by block column, what is needed and what is finished; or
/// nullptr.
template <class T>
Status factor_one(const BatchProblem<T>& problem, const Plan& plan,
                  const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream,
                  ColumnWatch* watch = nullptr);
template <class T>
Status solve_one(const BatchProblem<T>& problem, Blas& blas, cudaStream_t stream);
/// B stays as it was when info is not 0, which only the device knows.
template <class T>
Status factor_and_solve_one(const BatchProblem<T>& problem, const Plan& plan,
                            const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream);
template <class T>
Status invert_one(BatchProblem<T> problem, const OneMatrixWorkspace<T>& work, Blas& blas,
                  cudaStream_t stream);

}  // namespace chol::cuda
