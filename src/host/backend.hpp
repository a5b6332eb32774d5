// The host backend: SIMD kernels chosen by cpuid, OpenMP over matrices or tiles.
#pragma once

#include "backend/backend.hpp"

namespace chol::host {

/// Makes the host backend; nullptr with a status when memory is short.
backend::Backend* open(Status& status);

}  // namespace chol::host
