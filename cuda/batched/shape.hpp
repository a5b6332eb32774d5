// What shapes of kernels are made of: the numbers that a kernel is compiled for.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

template <class... Shapes>
struct ShapeList {};

/// Those of one right-hand side are by a grid of lanes.
enum class SmallTask { factor, solve, factor_and_solve, solve_one, factor_and_solve_one };
template <SmallTask kTask>
inline constexpr bool kFactors = !(kTask == SmallTask::solve || kTask == SmallTask::solve_one);
template <SmallTask kTask>
inline constexpr bool kIsOfOne = kTask >= SmallTask::solve_one;
/// Orders up to kOrder, kLanes lanes a matrix.
template <int kMaxOrder, int kLaneCount>
struct SmallClass {
  static constexpr int kLeast = 0, kOrder = kMaxOrder, kLanes = kLaneCount;
};
/// small.cuh: the same, warps a block, blocks a multiprocessor (which bounds the registers).
template <int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct SmallShape : SmallClass<kMaxOrder, kLaneCount> {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
};
/// Of one right-hand side, from order kLeast on.
template <int kLeastOrder, int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct GridShape : SmallShape<kMaxOrder, kLaneCount, kWarpCount, kBlockCount> {
  static constexpr int kLeast = kLeastOrder;
};
/// dealt_small.cuh: warps a block, blocks a multiprocessor, classes in the order in which they are
/// worked on.
template <int kWarpCount, int kBlockCount, class... Class>
struct DealtShape {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
  static constexpr int kShare = 16 * kWarps;  ///< most matrices of a block
  static constexpr int kOrder = larger(Class::kOrder...);
};
/// panel.cuh: warps a block, tiles a warp, blocks a multiprocessor.
template <int kWarpCount, int kTileCount, int kBlockCount>
struct PanelShape {
  static constexpr int kWarps = kWarpCount, kTiles = kTileCount, kBlocks = kBlockCount;
};
/// What multiplies in left_looking.cuh and wide_left_looking.cuh. Double precision is always by
/// tensor cores, single precision by those of double precision where the device has them at full
/// rate.
enum class ProductBy : bool { fma, tensor };
/// Options of shapes of left_looking.cuh.
enum LeftLookingOption : int {
  /// The first operands of a strip are asked for while the one before is eliminated.
  kStartsNext = 1,
  /// Operands come past the first-level cache: of row storage.
  kPastFirst = 2,
  /// The operands of a step are read while the one before is multiplied and, in single precision,
  /// lines that begin anywhere come shifted (staged_rows.cuh).
  kReadsAhead = 4,
  /// Nothing is held in registers that can be had when it is needed.
  kSavesRegisters = 8,
  kAhead = kStartsNext | kSavesRegisters,
  kPast = kPastFirst | kSavesRegisters
};
/// left_looking.cuh: warps a matrix, columns staged at a time, blocks a multiprocessor, columns of
/// a block, what multiplies, options.
template <int kWarpCount, int kStageDepth, int kBlockCount, int kColumnCount, ProductBy kProductBy,
          int kOptionSet = 0>
struct LeftLookingShape {
  using Shape = LeftLookingShape;
  static constexpr int kWarps = kWarpCount, kDepth = kStageDepth, kBlocks = kBlockCount;
  static constexpr int kColumns = kColumnCount, kOptions = kOptionSet;
  static constexpr ProductBy kBy = kProductBy;
  /// What a plan calls it by.
  static constexpr int kPlanWarps = kWarps, kPlanBlocks = kBlocks;
};
/// A shape by another name: of row storage, and of columns that begin anywhere, what takes the
/// place of the one that a plan names, of eight warps what has the same block columns as a plan for
/// more matrices, so that their number does not change a bit.
template <class ItsShape, int kPlanWarpCount, int kPlanBlockCount>
struct InPlaceOf : ItsShape {
  static constexpr int kPlanWarps = kPlanWarpCount, kPlanBlocks = kPlanBlockCount;
};
/// wide_left_looking.cuh: warps a matrix and how many of them lie side by side, row blocks of a
/// warp side by side, columns staged at a time, stages, blocks a multiprocessor, what multiplies.
template <int kWarpCount, int kColumnGroupCount, int kPartCount, int kStageDepth, int kStageCount,
          int kBlockCount, ProductBy kProductBy>
struct WideShape {
  static constexpr ProductBy kBy = kProductBy;
  static constexpr int kWarps = kWarpCount, kColumnGroups = kColumnGroupCount;
  static constexpr int kParts = kPartCount, kDepth = kStageDepth, kStages = kStageCount;
  static constexpr int kBlocks = kBlockCount;
};
/// strip.cuh: warps a block, tile columns of the block column, blocks a multiprocessor.
template <int kWarpCount, int kColumnCount, int kBlockCount>
struct StripShape {
  static constexpr int kWarps = kWarpCount, kColumns = kColumnCount, kBlocks = kBlockCount;
};
/// solve.cuh: orders up to 8 kTiles, sets of right-hand sides a warp has at a time (of 8 in double
/// precision, 4 in the others), warps a matrix, matrices a block, blocks a multiprocessor. A block
/// has one matrix or one warp a matrix.
template <int kTileCount, int kSetCount, int kWarpCount, int kMatrixCount, int kBlockCount>
struct SolveShape {
  static constexpr int kTiles = kTileCount, kSets = kSetCount, kWarps = kWarpCount;
  static constexpr int kMatrices = kMatrixCount, kBlocks = kBlockCount;
  static_assert(kWarps == 1 || kMatrices == 1);
};
/// block_solve.cuh: orders up to kMaxOrder; diagonal blocks of a warp: two leave less to do twice,
/// one makes the chain shorter; groups of warps, each with kColumns right-hand sides at a time;
/// blocks a multiprocessor; what multiplies, where there are several right-hand sides; block
/// columns whose blocks below the first kHeld block rows are in registers, with one right-hand side
/// and one diagonal block a warp.
template <int kMaxOrder, int kWarpBlockCount, int kGroupCount, int kColumnCount, int kBlockCount,
          ProductBy kProductBy = ProductBy::fma, int kHeldCount = 0>
struct BlockSolveShape {
  using Shape = BlockSolveShape;
  static constexpr ProductBy kBy = kProductBy;
  static constexpr int kLeast = 0, kOrder = kMaxOrder, kWarpBlocks = kWarpBlockCount;
  static constexpr int kGroups = kGroupCount, kColumns = kColumnCount, kBlocks = kBlockCount;
  static constexpr int kHeld = kHeldCount;
};
/// A shape for orders from kLeastOrder on.
template <int kLeastOrder, class ItsShape>
struct From : ItsShape {
  static constexpr int kLeast = kLeastOrder;
};

}  // namespace chol::cuda
