// Shapes of the kernels of diagonal blocks and of the rows below them, and those that are built
// (blocked/instances.def).
#pragma once

#include "common/instances.hpp"

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
struct BlockedShapes {
  using Panel = decltype(ShapeList<>{}
#define CHOL_PANEL_INSTANCE(precision, ...) \
  +list_if<is_of<T>(#precision), PanelShape<__VA_ARGS__>>()
#include "native/blocked/instances.def"
  );
  using Strip = decltype(only(ShapeList<>{}
#define CHOL_STRIP_INSTANCE(precision, ...) \
  +list_if<is_of<T>(#precision), StripShape<__VA_ARGS__>>()
#include "native/blocked/instances.def"
                              ));
};

}  // namespace chol::cuda
