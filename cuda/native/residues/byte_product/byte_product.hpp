// Products of residues reduced to bytes, on devices of compute capability 9.0.
#pragma once

#include <cuda_runtime_api.h>

#include "common/launch.hpp"
#include "native/residues/byte_product/call.hpp"

namespace chol::cuda::residues {

/// One matrix of bytes a modulus, whose rows are operands, each row aligned to 16 bytes.
struct ByteMatrix {
  const int8_t* first;
  int64_t rows, columns, ld, stride;
};

/// Whether the current device has the instructions.
bool multiplies_bytes();

/// Queues call.bytes := X Y^T for the rows of X and Y given by call.x and call.y.
Status multiply_bytes(const ByteProduct& call, const ByteMatrix& X, const ByteMatrix& Y,
                      cudaStream_t stream);

}  // namespace chol::cuda::residues
