// One matrix worked on by several thread blocks, without synchronization with the host.
#pragma once

#include "native/invert.hpp"
#include "native/method.hpp"
#include "native/residues/residues.hpp"
#include "native/solve/solve.hpp"

namespace chol::cuda {

template <class T>
struct OneMatrixWorkspace {
  native::FactorWorkspace<T> factor;
  solve::Workspace<T> solve;
  T* copy = nullptr;  ///< posv: the solution until info is known, if the kernels do not read info
  InversionWorkspace<T> inversion;  ///< potri
  residues::Workspace<T> residues;
  residues::Progress* progress = nullptr;  ///< if products run on integer tensor cores

  /// @param solution the choice for the solve, for posv.
  static OneMatrixWorkspace carve(Arena& arena, Routine routine, const Choice& choice,
                                  const Choice& solution, int64_t n, int64_t nrhs);
};

/// @param choice persistent_potrf or recursive_potrf.
/// @param watch receives, for each block column, which columns are needed and which are finished;
/// or nullptr.
template <class T>
Status factor_one(const BatchProblem<T>& problem, const Choice& choice,
                  const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream,
                  ColumnWatch* watch = nullptr);
template <class T>
Status solve_one(const BatchProblem<T>& problem, const Choice& choice,
                 const OneMatrixWorkspace<T>& work, Blas& blas, cudaStream_t stream);
/// B is not changed when info is not 0, which only the device knows.
/// @param solution one_matrix_solve or cublas_solve.
template <class T>
Status factor_and_solve_one(const BatchProblem<T>& problem, const Choice& choice,
                            const Choice& solution, const OneMatrixWorkspace<T>& work, Blas& blas,
                            cudaStream_t stream);
template <class T>
Status invert_one(BatchProblem<T> problem, const OneMatrixWorkspace<T>& work, Blas& blas,
                  cudaStream_t stream);

}  // namespace chol::cuda
