// The CUDA backend.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/backend.hpp"

namespace chol::cuda {

/// The backend on that device; throws std::bad_alloc.
backend::Backend* make_backend(int device, const cudaDeviceProp& properties);

}  // namespace chol::cuda
