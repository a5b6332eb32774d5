// Marks the start of the kernels of a case of profile_device.
#pragma once

#include <cuda_runtime.h>

namespace chol::bench {

/// Launches an empty kernel of number + 1 blocks.
void mark_case(int number, cudaStream_t stream);

}  // namespace chol::bench
