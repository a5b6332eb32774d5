// Check of results: LAPACK's residuals, estimated with random vectors in O(n^2) a matrix, for a
// sample of the batch.
#pragma once

#include "peers/engine.hpp"

namespace chol::bench {

struct Verdict {
  double residual = -1;  ///< largest seen; infinite for NaN; < 0 when the routine has no check
  int64_t failed = 0;    ///< matrices with info != 0
};

Verdict check_result(const Work& work, const char* input);

}  // namespace chol::bench
