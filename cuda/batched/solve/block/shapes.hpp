// The solves by blocks of warps that share the rows of a matrix: what the kernels are compiled for,
// and those that are built. Which of them serves a call is a row (tune/solve_rows.cpp).
#pragma once

#include "batched/solve/block/params.hpp"
#include "common/shape_list.hpp"

namespace chol::cuda {

/// solve/block/kernel.cuh: orders up to kMaxOrder; diagonal blocks of a warp: two leave less to do
/// twice, one makes the chain shorter; groups of warps, each with kColumns right-hand sides at a
/// time; blocks a multiprocessor; what multiplies, where there are several right-hand sides; block
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

/// For one right-hand side, and for several.
template <class T>
struct BlockSolveLists;
template <>
struct BlockSolveLists<float> {
  using One = ShapeList<
      BlockSolveShape<128, 2, 1, 1, 5>, BlockSolveShape<256, 1, 1, 1, 2, ProductBy::fma, 3>,
      BlockSolveShape<320, 2, 1, 1, 1>, BlockSolveShape<192, 1, 1, 1, 3, ProductBy::fma, 1>,
      BlockSolveShape<192, 2, 1, 1, 2>, BlockSolveShape<352, 1, 1, 1, 1, ProductBy::fma, 4>>;
  using Many = ShapeList<BlockSolveShape<128, 2, 1, 16, 4>>;
};
template <>
struct BlockSolveLists<double> {
  using One = ShapeList<
      BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>,
      BlockSolveShape<144, 1, 1, 1, 2>, BlockSolveShape<176, 1, 1, 1, 2, ProductBy::fma, 2>,
      BlockSolveShape<224, 1, 1, 1, 1>, BlockSolveShape<256, 1, 1, 1, 1, ProductBy::fma, 2>>;
  using Many = ShapeList<BlockSolveShape<96, 2, 1, 16, 2, ProductBy::tensor>,
                         BlockSolveShape<128, 1, 1, 16, 2, ProductBy::tensor>>;
};
template <>
struct BlockSolveLists<Complex<float>> {
  using One = ShapeList<
      BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>,
      BlockSolveShape<144, 1, 1, 1, 2>, BlockSolveShape<176, 1, 1, 1, 2, ProductBy::fma, 2>,
      BlockSolveShape<224, 1, 1, 1, 1>, BlockSolveShape<256, 1, 1, 1, 1, ProductBy::fma, 2>>;
  using Many = ShapeList<BlockSolveShape<64, 2, 2, 8, 5, ProductBy::tensor>,
                         BlockSolveShape<80, 1, 2, 8, 3, ProductBy::tensor>,
                         BlockSolveShape<96, 2, 2, 8, 3, ProductBy::tensor>,
                         BlockSolveShape<128, 1, 2, 8, 2, ProductBy::tensor>,
                         BlockSolveShape<96, 1, 2, 8, 2>, BlockSolveShape<128, 1, 1, 16, 2>>;
};
template <>
struct BlockSolveLists<Complex<double>> {
  using One =
      ShapeList<BlockSolveShape<80, 1, 1, 1, 4, ProductBy::fma, 1>, BlockSolveShape<96, 1, 1, 1, 2>,
                BlockSolveShape<112, 1, 1, 1, 2, ProductBy::fma, 1>,
                BlockSolveShape<128, 1, 1, 1, 2, ProductBy::fma, 2>,
                BlockSolveShape<192, 1, 1, 1, 1, ProductBy::fma, 3>>;
  using Many = ShapeList<BlockSolveShape<96, 2, 2, 8, 2, ProductBy::tensor>,
                         BlockSolveShape<128, 1, 2, 8, 1, ProductBy::tensor>>;
};

}  // namespace chol::cuda
