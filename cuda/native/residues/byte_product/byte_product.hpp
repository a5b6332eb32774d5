// The product of residues that leaves as bytes, on devices of compute capability 9.0.
#pragma once

#include <cuda_runtime_api.h>

#include "common/launch.hpp"
#include "native/residues/byte_product/call.hpp"

namespace chol::cuda::residues {

/// A matrix of bytes a modulus that operands are rows of, each row at a multiple of 16 bytes.
struct ByteMatrix {
  const int8_t* first;
  int64_t rows, columns, ld, stride;
};

/// Whether the current device has the instructions.
bool multiplies_bytes();

/// Queues call.bytes := X Y^T of rows of X and of Y as call.x and call.y say.
Status multiply_bytes(const ByteProduct& call, const ByteMatrix& X, const ByteMatrix& Y,
                      cudaStream_t stream);

}  // namespace chol::cuda::residues
