// Built-in plans of the CUDA backend.
#pragma once

#include <cstddef>

#include "tune/plan.hpp"

namespace chol::cuda {

/// The rows measured on an architecture at or below `capability` (10 major + minor).
const TuningRow* built_in_rows(int capability, size_t* count);

}  // namespace chol::cuda
