// Reciprocal condition number of a factored matrix by Higham's estimator of the inverse's 1-norm
// (N. J. Higham 1988, algorithm 4.1; Higham and Tisseur's stopping rules as in LAPACK's dlacn2).
// The control flow depends on the data, so the steps run as a state machine on the device: the host
// queues the largest number of solves, and those after the end do nothing.
#pragma once

#include "base/arena.hpp"
#include "batched/solve/choose.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

template <class R>
struct ConditionState {
  int done;  ///< 1 when the estimate is final; also stops the solves
  int phase, iteration;
  R estimate;
  int64_t index;
};

template <class T>
struct ConditionWorkspace {
  ConditionState<Real<T>>* state = nullptr;
  T* x = nullptr;
  signed char* signs = nullptr;

  static ConditionWorkspace carve(Arena& arena, int64_t n) {
    ConditionWorkspace work;
    work.state = arena.take<ConditionState<Real<T>>>(1);
    work.x = arena.take<T>(n);
    work.signs = arena.take<signed char>(n);
    return work;
  }
};

/// @param problem A holds the factor of one matrix. @param solves the choice for the solves.
template <class T>
Status estimate_condition(BatchProblem<T> problem, const SolveChoice& solves,
                          const ConditionWorkspace<T>& work, Real<T> anorm, Real<T>* rcond,
                          cudaStream_t stream);

}  // namespace chol::cuda
