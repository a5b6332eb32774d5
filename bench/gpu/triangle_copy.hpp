// The memory bound of a batched factorization of small matrices, tighter than the copy bandwidth of
// full lines.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace chol::bench {

/// Reads the lower triangle of every matrix, of `n` columns of `column_bytes` back to back, by
/// sectors of 32 bytes and writes it back: the memory traffic of a factorization in place, without
/// the factorization. Columns are whole multiples of 16 bytes.
/// @return whether there is a kernel for so many columns.
bool run_triangle_copy(int64_t n, int64_t column_bytes, void* const* A, int64_t batch,
                       cudaStream_t stream);

}  // namespace chol::bench
