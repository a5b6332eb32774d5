// Operation counts of a call, for choosing the number of threads and for the rate in the trace.
#pragma once

#include "backend/backend.hpp"
#include "base/flops.hpp"

namespace chol::backend {

/// Of one matrix in real arithmetic.
inline double flops_of(Routine routine, double n, double nrhs) {
  switch (routine) {
    case Routine::potrf:
      return potrf_flops(n);
    case Routine::potrs:
      return potrs_flops(n, nrhs);
    case Routine::posv:
      return potrf_flops(n) + potrs_flops(n, nrhs);
    case Routine::potri:
      return potri_flops(n);
    case Routine::pocon:
      return potrs_flops(n, 5);  // Higham's estimator: about five solves
    case Routine::logdet:
      return n;
    case Routine::pack:
    case Routine::unpack:
      return 0;
  }
  return 0;
}

/// Of the whole batch; for a variable batch, whose sizes may be in device memory, computed from the
/// bound.
template <class T>
double flops_of(const Problem<T>& problem) {
  const BatchSizes& sizes = problem.sizes;
  return flop_factor<T> * static_cast<double>(sizes.count) *
         flops_of(problem.routine, static_cast<double>(sizes.n), static_cast<double>(sizes.nrhs));
}

}  // namespace chol::backend
