// A kernel that only occupies multiprocessors for some time.
#pragma once

#include <cuda_runtime_api.h>

namespace chol::test {

/// Queues so many blocks of so many bytes of shared memory each, which run for `cycles`.
cudaError_t spin(int blocks, int bytes, long long cycles, cudaStream_t stream);

}  // namespace chol::test
