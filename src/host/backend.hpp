// The host backend: SIMD kernels selected by cpuid, threads over matrices or tiles.
#pragma once

#include "backend/backend.hpp"

namespace chol::host {

/// Creates the host backend; nullptr with a status when out of memory.
backend::Backend* open(Status& status);

}  // namespace chol::host
