// The solves by tiles of a triangle in shared memory: what the kernels are compiled for, and those
// that are built, for each element type in the order in which they are tried.
#pragma once

#include "common/shape_list.hpp"

namespace chol::cuda {

/// solve/tile/kernel.cuh: orders up to 8 kTiles, sets of right-hand sides a warp has at a time (of
/// 8 in double precision, 4 in the others), warps a matrix, matrices a block, blocks a
/// multiprocessor. A block has one matrix or one warp a matrix.
template <int kTileCount, int kSetCount, int kWarpCount, int kMatrixCount, int kBlockCount>
struct SolveShape {
  static constexpr int kTiles = kTileCount, kSets = kSetCount, kWarps = kWarpCount;
  static constexpr int kMatrices = kMatrixCount, kBlocks = kBlockCount;
  static_assert(kWarps == 1 || kMatrices == 1);
};

/// SolveOne is for one right-hand side, of which other kernels take most.
template <class T>
struct TileSolveShapes;
template <>
struct TileSolveShapes<float> {
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 20>, SolveShape<24, 1, 1, 1, 2>>;
  using SolveMany =
      ShapeList<SolveShape<4, 4, 1, 4, 4>, SolveShape<8, 4, 1, 1, 12>, SolveShape<24, 4, 1, 1, 2>>;
};
template <>
struct TileSolveShapes<double> {
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 1, 4, 4>, SolveShape<8, 1, 2, 1, 8>>;
};
template <>
struct TileSolveShapes<Complex<float>> {
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 4, 1, 4, 3>, SolveShape<4, 4, 1, 4, 3>, SolveShape<8, 2, 2, 1, 5>>;
};
template <>
struct TileSolveShapes<Complex<double>> {
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 6>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 2, 1, 7>, SolveShape<8, 2, 2, 1, 6>>;
};

}  // namespace chol::cuda
