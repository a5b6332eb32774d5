// What tells the kernels of one case of profile_device from those of the next.
#pragma once

#include <cuda_runtime.h>

namespace chol::bench {

/// Launches an empty kernel of number + 1 blocks.
void mark_case(int number, cudaStream_t stream);

}  // namespace chol::bench
