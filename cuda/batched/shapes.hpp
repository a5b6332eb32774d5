// The kernels that are built: for each element type the shapes of each kernel, in the order in
// which they are tried. What a plan asks for is looked up here; what is not listed is not built.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

template <class... Shapes>
struct ShapeList {};

/// small.cuh: orders up to kOrder, kLanes lanes a matrix, blocks a multiprocessor (which bounds the
/// registers), and the most blocks there (0: as many as fit).
template <int kMaxOrder, int kLaneCount, int kBlockCount, int kMost = 0>
struct SmallShape {
  static constexpr int kOrder = kMaxOrder, kLanes = kLaneCount, kBlocks = kBlockCount;
  static constexpr int kMostBlocks = kMost;
};
/// panel.cuh: warps a block, tiles a warp, blocks a multiprocessor.
template <int kWarpCount, int kTileCount, int kBlockCount>
struct PanelShape {
  static constexpr int kWarps = kWarpCount, kTiles = kTileCount, kBlocks = kBlockCount;
};
/// strip.cuh: warps a block, tile columns of the block column, blocks a multiprocessor.
template <int kWarpCount, int kColumnCount, int kBlockCount>
struct StripShape {
  static constexpr int kWarps = kWarpCount, kColumns = kColumnCount, kBlocks = kBlockCount;
};

template <class T>
struct Shapes;

template <>
struct Shapes<float> {
  using Small = ShapeList<SmallShape<4, 4, 14>, SmallShape<8, 4, 8>, SmallShape<16, 8, 6>,
                          SmallShape<24, 8, 4>, SmallShape<32, 16, 4>>;
  using Panel = ShapeList<PanelShape<1, 3, 14>, PanelShape<1, 6, 11>, PanelShape<4, 4, 5>,
                          PanelShape<4, 7, 3>, PanelShape<8, 9, 1>, PanelShape<16, 8, 1>>;
  using Strip = StripShape<4, 4, 3>;
};
template <>
struct Shapes<double> {
  using Small = ShapeList<SmallShape<4, 4, 10>, SmallShape<8, 4, 8>, SmallShape<12, 4, 5>,
                          SmallShape<16, 8, 5, 4>, SmallShape<24, 8, 2>, SmallShape<32, 8, 2>>;
  using Panel = ShapeList<PanelShape<2, 8, 10>, PanelShape<2, 14, 8>, PanelShape<4, 12, 4>,
                          PanelShape<4, 17, 3>, PanelShape<8, 15, 2>, PanelShape<16, 18, 1>>;
  using Strip = StripShape<8, 8, 2>;
};
template <>
struct Shapes<Complex<float>> {
  using Small = ShapeList<SmallShape<4, 4, 10>, SmallShape<8, 4, 7>, SmallShape<16, 8, 4, 5>,
                          SmallShape<24, 8, 2>, SmallShape<32, 32, 3>>;
  using Panel = ShapeList<PanelShape<1, 3, 11>, PanelShape<2, 3, 6>, PanelShape<4, 4, 3>,
                          PanelShape<8, 4, 2>, PanelShape<16, 5, 1>>;
  using Strip = StripShape<2, 4, 4>;
};
template <>
struct Shapes<Complex<double>> {
  using Small = ShapeList<SmallShape<4, 4, 8>, SmallShape<8, 4, 4>, SmallShape<16, 8, 2>,
                          SmallShape<24, 8, 2>, SmallShape<32, 16, 1>>;
  using Panel = ShapeList<PanelShape<2, 8, 6>, PanelShape<2, 14, 4>, PanelShape<8, 9, 1>,
                          PanelShape<16, 8, 1>>;
  using Strip = StripShape<4, 4, 2>;
};

}  // namespace chol::cuda
