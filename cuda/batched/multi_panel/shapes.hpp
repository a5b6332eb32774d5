// Shapes of the left-looking kernels with several panels a block column, and those that are built
// (multi_panel/instances.def).
#pragma once

#include "common/instances.hpp"

namespace chol::cuda {

/// multi_panel/kernel.cuh: warps a matrix, warps in a row of the grid, row blocks a warp, columns
/// staged at a time, stages, blocks a multiprocessor, multiplier.
template <int kWarpCount, int kColumnGroupCount, int kPartCount, int kStageDepth, int kStageCount,
          int kBlockCount, ProductBy kProductBy>
struct WideShape {
  static constexpr ProductBy kBy = kProductBy;
  static constexpr int kWarps = kWarpCount, kColumnGroups = kColumnGroupCount;
  static constexpr int kParts = kPartCount, kDepth = kStageDepth, kStages = kStageCount;
  static constexpr int kBlocks = kBlockCount;
};

template <class T, bool kSwapped>
struct WideShapesOf {
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, triangle, warps, column_groups, parts, depth, stages, blocks, by) \
  +list_if<is_of<T>(#precision) && is_of(Triangle::triangle, kSwapped),                            \
           WideShape<warps, column_groups, parts, depth, stages, blocks, ProductBy::by>>()
#include "batched/multi_panel/instances.def"
  );
};
template <class T, bool kSwapped>
using WideShapes = typename WideShapesOf<T, kSwapped>::Type;

}  // namespace chol::cuda
