// Reference kernel: the starting point of the literature's autotuner of interleaved batches.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>

namespace chol::bench {

/// Lower triangles in chunks of `chunk` matrices with lda = n, one thread a matrix in device
/// memory: top-looking by tiles of 8, the starting point of Gates, Kurzak, Luszczek, Pei and
/// Dongarra (2017).
template <class T>
void run_top_looking(int64_t n, T* A, int64_t chunk, int* info, int64_t batch, cudaStream_t stream);

}  // namespace chol::bench
