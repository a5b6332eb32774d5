// The grid of a solve in which each block has some of the right-hand sides of a matrix.
#pragma once

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

struct SolveGrid {
  dim3 blocks;  ///< x: matrices, y: right-hand sides
  int64_t columns_of_block;

  /// @param across number of blocks for the matrices of the batch.
  SolveGrid(int64_t across, int64_t nrhs) {
    constexpr int64_t kChunk = 64;  ///< minimum for a block
    constexpr int64_t kMostChunks = 65535;
    columns_of_block = larger(kChunk, (nrhs + kMostChunks - 1) / kMostChunks);
    blocks = dim3(static_cast<unsigned>(across),
                  static_cast<unsigned>((nrhs + columns_of_block - 1) / columns_of_block));
  }
};

}  // namespace chol::cuda
