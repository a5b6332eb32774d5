// The kernels of interleaved batches that are built, for each element type.
#pragma once

#include "common/shape_list.hpp"
#include "interleaved/block_shape.hpp"

namespace chol::cuda {

/// shared/factor.cuh: columns of a block column, most rows of it that a thread holds (in a solve 1
/// if a thread has the only right-hand side to itself), matrices side by side, threads of a block
/// and the least blocks a multiprocessor, which bound the registers.
template <int kColumnCount, int kRowCount, int kLaneCount, int kThreadCount, int kBlockCount>
struct InterleavedSharedShape {
  static constexpr int kColumns = kColumnCount, kRows = kRowCount, kLanes = kLaneCount;
  static constexpr int kThreads = kThreadCount, kBlocks = kBlockCount;
};

/// warp/block_kernel.cuh: warps that work on a matrix, matrices of a block, warps that move them,
/// and the least blocks a multiprocessor, which bound the registers: of shapes that differ by
/// nothing else the first for whose blocks there is shared memory is taken.
template <int kWarpCount, int kMatrixCount, int kMoverCount, int kBlockCount>
struct WarpFactorShape {
  static constexpr int kWarps = kWarpCount, kMatrices = kMatrixCount, kMovers = kMoverCount;
  static constexpr int kBlocks = kBlockCount;
  static constexpr int kShare = 65536 / (32 * (kWarps * kMatrices + kMovers) * kBlocks);
  static constexpr int kRegisters = kShare < 255 ? kShare : 255;  ///< of a thread, at most
};

/// One list a task.
template <class T>
struct InterleavedShapes;

template <int... kNumbers>
using SharedShape = InterleavedSharedShape<kNumbers...>;

template <>
struct InterleavedShapes<float> {
  using Factor = ShapeList<SharedShape<4, 4, 32, 128, 2>, SharedShape<8, 4, 8, 64, 4>>;
  using Solve = ShapeList<SharedShape<8, 1, 16, 64, 2>>;
  using FactorAndSolve = ShapeList<SharedShape<8, 4, 8, 64, 4>>;
  using ByWarps = ShapeList<WarpFactorShape<1, 8, 2, 2>, WarpFactorShape<1, 4, 2, 4>,
                            WarpFactorShape<2, 2, 2, 2>, WarpFactorShape<4, 1, 2, 2>>;
  using SolveByWarps = ShapeList<WarpFactorShape<1, 4, 2, 2>, WarpFactorShape<1, 2, 2, 2>,
                                 WarpFactorShape<4, 1, 2, 1>>;
};
template <>
struct InterleavedShapes<double> {
  using Factor = ShapeList<SharedShape<8, 4, 8, 64, 2>>;
  using Solve = ShapeList<SharedShape<8, 1, 8, 64, 1>>;
  using FactorAndSolve = ShapeList<SharedShape<4, 4, 8, 64, 2>>;
  using ByWarps = ShapeList<WarpFactorShape<1, 4, 2, 3>, WarpFactorShape<1, 4, 2, 2>,
                            WarpFactorShape<2, 2, 2, 1>, WarpFactorShape<4, 1, 2, 1>>;
  using SolveByWarps = ShapeList<WarpFactorShape<1, 2, 2, 2>, WarpFactorShape<1, 1, 2, 2>>;
};
template <>
struct InterleavedShapes<Complex<float>> {
  using Factor = ShapeList<SharedShape<4, 4, 16, 64, 2>, SharedShape<4, 4, 8, 64, 2>>;
  using Solve = ShapeList<SharedShape<8, 4, 8, 64, 2>>;
  using FactorAndSolve = ShapeList<SharedShape<4, 4, 8, 64, 2>>;
  using ByWarps = ShapeList<WarpFactorShape<1, 4, 2, 2>, WarpFactorShape<1, 2, 2, 3>,
                            WarpFactorShape<2, 2, 2, 1>, WarpFactorShape<4, 1, 2, 1>>;
  using SolveByWarps = ShapeList<WarpFactorShape<1, 2, 2, 2>, WarpFactorShape<1, 1, 2, 2>>;
};
template <>
struct InterleavedShapes<Complex<double>> {
  using Factor = ShapeList<SharedShape<4, 4, 8, 64, 1>, SharedShape<4, 4, 4, 64, 2>>;
  using Solve = ShapeList<SharedShape<4, 4, 4, 32, 3>>;
  using FactorAndSolve = ShapeList<SharedShape<4, 4, 4, 64, 2>, SharedShape<4, 2, 2, 64, 3>>;
  using ByWarps = ShapeList<WarpFactorShape<1, 2, 2, 2>, WarpFactorShape<2, 2, 2, 1>,
                            WarpFactorShape<4, 1, 2, 1>>;
  using SolveByWarps = ShapeList<WarpFactorShape<1, 2, 2, 2>, WarpFactorShape<1, 1, 2, 2>>;
};

}  // namespace chol::cuda
