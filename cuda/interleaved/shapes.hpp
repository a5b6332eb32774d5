// Shapes of the kernels of interleaved batches in shared memory.
#pragma once

#include "common/shape_list.hpp"
#include "interleaved/block_shape.hpp"

namespace chol::cuda {

/// shared/factor.cuh: columns of a block column, most rows of it that a thread holds (in a solve 1
/// if one thread solves for a single right-hand side), matrices a block, threads of a block and the
/// least blocks a multiprocessor, which bound the registers.
template <int kColumnCount, int kRowCount, int kLaneCount, int kThreadCount, int kBlockCount>
struct InterleavedSharedShape {
  static constexpr int kColumns = kColumnCount, kRows = kRowCount, kLanes = kLaneCount;
  static constexpr int kThreads = kThreadCount, kBlocks = kBlockCount;
};

/// warp/block_kernel.cuh: warps that work on a matrix, matrices of a block, warps that copy them,
/// and the least blocks a multiprocessor, which bound the registers: among shapes that otherwise
/// agree the first whose blocks fit the shared memory is used.
template <int kWarpCount, int kMatrixCount, int kMoverCount, int kBlockCount>
struct WarpFactorShape {
  static constexpr int kWarps = kWarpCount, kMatrices = kMatrixCount, kMovers = kMoverCount;
  static constexpr int kBlocks = kBlockCount;
  static constexpr int kShare = 65536 / (32 * (kWarps * kMatrices + kMovers) * kBlocks);
  static constexpr int kRegisters = kShare < 255 ? kShare : 255;  ///< of a thread, at most
};

}  // namespace chol::cuda
