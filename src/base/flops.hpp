// Operation counts of LAPACK's working notes (Blackford, Dongarra 1999, LAWN 41), leading to the
// Gflop/s that the trace and chol-bench print.
#pragma once

#include "base/scalar.hpp"

namespace chol {

/// No division: a call on a small matrix asks before it decides on threads.
inline double potrf_flops(double n) { return n * (n * (n * (1.0 / 3) + 0.5) + 1.0 / 6); }
inline double potrs_flops(double n, double nrhs) { return 2 * n * n * nrhs; }
inline double potri_flops(double n) { return 2 * n * n * n / 3 + n * n / 2 + 5 * n / 6; }

}  // namespace chol
