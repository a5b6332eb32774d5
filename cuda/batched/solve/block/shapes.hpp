// Shapes of the solves by blocks of warps that share the rows of a matrix, and those that are built
// (solve/block/instances.def). Rows select among them (tune/solve_rows.cpp).
#pragma once

#include "batched/solve/block/params.hpp"
#include "common/instances.hpp"

namespace chol::cuda {

/// solve/block/kernel.cuh: orders up to kMaxOrder; diagonal blocks of a warp: two reduce duplicated
/// work, one shortens the chain; groups of warps, each with kColumns right-hand sides at a time;
/// blocks a multiprocessor; multiplier for several right-hand sides; block
/// columns whose blocks below the first kHeld block rows are in registers, with one right-hand side
/// and one diagonal block a warp.
template <int kMaxOrder, int kWarpBlockCount, int kGroupCount, int kColumnCount, int kBlockCount,
          ProductBy kProductBy = ProductBy::fma, int kHeldCount = 0>
struct BlockSolveShape {
  static constexpr ProductBy kBy = kProductBy;
  static constexpr int kOrder = kMaxOrder, kWarpBlocks = kWarpBlockCount;
  static constexpr int kGroups = kGroupCount, kColumns = kColumnCount, kBlocks = kBlockCount;
  static constexpr int kHeld = kHeldCount;
  static constexpr BlockSolveParams kParams{
      kOrder, kWarpBlocks, kGroups, kColumns, kBlocks, kBy == ProductBy::tensor, kHeld};
};

/// The kernels for one right-hand side, or for several.
template <class T, bool kOne>
struct BlockSolveShapesOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, order, warp_blocks, groups, columns, blocks, by, held) \
  +list_if<is_of<T>(#precision) && (columns == 1) == kOne,                              \
           BlockSolveShape<order, warp_blocks, groups, columns, blocks, ProductBy::by, held>>()
#include "batched/solve/block/instances.def"
  );
};
template <class T, bool kOne>
using BlockSolveShapes = typename BlockSolveShapesOf<T, kOne>::Type;

}  // namespace chol::cuda
