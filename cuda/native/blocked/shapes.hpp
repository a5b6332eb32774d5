// The kernels of diagonal blocks and of the rows below them: what they are compiled for, and those
// that are built.
#pragma once

#include "common/shape_list.hpp"

namespace chol::cuda {

/// blocked/diagonal_block.cuh: warps a block, tiles a warp, blocks a multiprocessor.
template <int kWarpCount, int kTileCount, int kBlockCount>
struct PanelShape {
  static constexpr int kWarps = kWarpCount, kTiles = kTileCount, kBlocks = kBlockCount;
};
/// blocked/panel_trsm.cuh: warps a block, tile columns of the block column, blocks a
/// multiprocessor.
template <int kWarpCount, int kColumnCount, int kBlockCount>
struct StripShape {
  static constexpr int kWarps = kWarpCount, kColumns = kColumnCount, kBlocks = kBlockCount;
};

template <class T>
struct BlockedShapes;
template <>
struct BlockedShapes<float> {
  using Panel = ShapeList<PanelShape<4, 4, 5>>;
  using Strip = StripShape<4, 4, 3>;
};
template <>
struct BlockedShapes<double> {
  using Panel = ShapeList<PanelShape<4, 12, 4>>;
  using Strip = StripShape<8, 8, 2>;
};
template <>
struct BlockedShapes<Complex<float>> {
  using Panel = ShapeList<PanelShape<4, 4, 3>>;
  using Strip = StripShape<2, 4, 4>;
};
template <>
struct BlockedShapes<Complex<double>> {
  using Panel = ShapeList<PanelShape<8, 9, 1>>;
  using Strip = StripShape<4, 4, 2>;
};

}  // namespace chol::cuda
