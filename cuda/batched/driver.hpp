// Batches: runs the kernels of the methods that the rows choose.
#pragma once

#include "base/arena.hpp"
#include "batched/choose_factor.hpp"
#include "batched/inverse_and_logdet.hpp"
#include "batched/solve/choose.hpp"
#include "common/alignment.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"
#include "tune/methods.hpp"
#include "tune/solve_rows.hpp"

namespace chol::cuda {

/// The case of a batch, the key of tuning rows.
template <class T>
Case case_of(const BatchProblem<T>& problem, Routine routine) {
  return {routine,
          Form::batch,
          kLetter<T>,
          problem.swapped,
          !is_misaligned(problem),
          problem.orders != nullptr,
          problem.n,
          problem.nrhs,
          problem.count};
}

/// Whether the kernels of precision T can handle all cases of a row.
template <class T>
bool accepts(const Row& row);

/// Workspace of the routines below for slices of a batch; carved before every call.
template <class T>
struct BatchWorkspace {
  int64_t slice = 0;     ///< matrices worked on at a time
  T* inverse = nullptr;  ///< potri: the inverses before they overwrite the factors

  static BatchWorkspace carve(Arena& arena, Routine routine, int64_t n, int64_t count);
};

/// @param[out] ran the choice that factored.
template <class T>
Status factor_batch(const BatchProblem<T>& problem, const Choice& row, const DeviceLimits& device,
                    FactorChoice& ran, cudaStream_t stream);
/// Skips the matrices whose info, if given, is not 0.
template <class T>
Status solve_batch(const BatchProblem<T>& problem, const SolveChoice& choice, cudaStream_t stream);
/// @param solution the choice for the solve, if the factorization does not include it.
template <class T>
Status factor_and_solve_batch(const BatchProblem<T>& problem, const Choice& row,
                              const SolveChoice& solution, const DeviceLimits& device,
                              FactorChoice& ran, cudaStream_t stream);
template <class T>
Status invert_batch(const BatchProblem<T>& problem, const BatchWorkspace<T>& work,
                    cudaStream_t stream);

}  // namespace chol::cuda
