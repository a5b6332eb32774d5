// Shapes of left-looking kernels.
#pragma once

#include "batched/left_looking/params.hpp"
#include "common/shape_list.hpp"

namespace chol::cuda {

/// Options of shapes of left_looking/kernel.cuh.
enum LeftLookingOption : int {
  /// The first operands of a panel are prefetched while the panel before is eliminated.
  kStartsNext = 1,
  /// Operands bypass the L1 cache, in the upper triangle (row-major access).
  kPastFirst = 2,
  /// The operands of a step are read while those of the step before are multiplied and, in single
  /// precision, misaligned columns are copied with a shift (left_looking/smem_stage.cuh).
  kReadsAhead = 4,
  /// Addresses are recomputed instead of kept in registers.
  kSavesRegisters = 8,
  kAhead = kStartsNext | kSavesRegisters,
  kPast = kPastFirst | kSavesRegisters
};
/// left_looking/kernel.cuh: warps a matrix, columns staged at a time, blocks a multiprocessor,
/// columns of a block, multiplier, options.
template <int kWarpCount, int kStageDepth, int kBlockCount, int kColumnCount, ProductBy kProductBy,
          int kOptionSet = 0>
struct LeftLookingShape {
  static constexpr int kWarps = kWarpCount, kDepth = kStageDepth, kBlocks = kBlockCount;
  static constexpr int kColumns = kColumnCount, kOptions = kOptionSet;
  static constexpr ProductBy kBy = kProductBy;
  static constexpr LeftLookingParams kParams{
      kWarps, kDepth, kBlocks, kColumns, kBy == ProductBy::tensor, kOptions};
};
}  // namespace chol::cuda
