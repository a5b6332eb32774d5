// The kernels that are built: for each element type the shapes of each kernel, in the order in
// which they are tried. What a plan asks for is looked up here; what is not listed is not built.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda {

template <class... Shapes>
struct ShapeList {};

enum class SmallTask { factor, solve, factor_and_solve };
/// small.cuh: orders up to kOrder, kLanes lanes a matrix, warps a block, blocks a multiprocessor
/// (which bounds the registers).
template <int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct SmallShape {
  static constexpr int kOrder = kMaxOrder, kLanes = kLaneCount;
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
};
/// dealt_small.cuh: warps a block, blocks a multiprocessor, classes in the order in which they are
/// worked on.
template <int kMaxOrder, int kLaneCount>
struct SmallClass {
  static constexpr int kOrder = kMaxOrder, kLanes = kLaneCount;
};
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
/// left_looking.cuh: warps a matrix, columns staged at a time, blocks a multiprocessor, whether
/// rows come past the first-level cache.
template <int kWarpCount, int kStageDepth, int kBlockCount, bool kIsPastFirst = false>
struct LeftLookingShape {
  static constexpr int kWarps = kWarpCount, kDepth = kStageDepth, kBlocks = kBlockCount;
  static constexpr bool kPastFirst = kIsPastFirst;
};
/// wide_left_looking.cuh: warps a matrix and how many of them lie side by side, row blocks of a
/// warp side by side, columns staged at a time, stages, blocks a multiprocessor.
template <int kWarpCount, int kColumnGroupCount, int kPartCount, int kStageDepth, int kStageCount,
          int kBlockCount>
struct WideShape {
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
/// blocks a multiprocessor.
template <int kMaxOrder, int kWarpBlockCount, int kGroupCount, int kColumnCount, int kBlockCount>
struct BlockSolveShape {
  static constexpr int kOrder = kMaxOrder, kWarpBlocks = kWarpBlockCount;
  static constexpr int kGroups = kGroupCount, kColumns = kColumnCount, kBlocks = kBlockCount;
};

template <class T>
struct Shapes;
/// Orders up to which matrices stored by rows go by small.cuh where a plan has left_looking.cuh.
template <class T>
inline constexpr int kRowLanes = 0;
template <>
inline constexpr int kRowLanes<float> = 64;

// Small has a list a task: a solve holds right-hand sides beside the matrix, and SmallSolveOne is
// what is faster for one of them than what SmallSolve has. Panel and Strip serve
// one large matrix, whose leaves they factor. LeftLooking and Wide have a list for either storage:
// of row storage 16 columns make whole lines, which pays where matrices are large; Wide has what is
// faster than LeftLooking somewhere. Solve has one for one right-hand side, of which other kernels
// take most, and one for more.
template <>
struct Shapes<float> {
  using SmallFactor =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<8, 4, 1, 32>,
                SmallShape<12, 4, 1, 24>, SmallShape<16, 8, 1, 24>, SmallShape<24, 8, 4, 4>,
                SmallShape<32, 16, 4, 4>, SmallShape<40, 32, 1, 24>, SmallShape<48, 32, 1, 20>,
                SmallShape<64, 32, 1, 16>>;
  using DealtSmall = DealtShape<8, 2, SmallClass<32, 16>, SmallClass<16, 8>>;
  using SmallSolve =
      ShapeList<SmallShape<2, 2, 4, 1>, SmallShape<4, 4, 4, 1>, SmallShape<8, 4, 4, 1>,
                SmallShape<12, 4, 1, 20>, SmallShape<16, 4, 1, 20>, SmallShape<24, 4, 1, 16>,
                SmallShape<32, 8, 1, 1>>;
  using SmallSolveOne = ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>,
                                  SmallShape<6, 1, 2, 1>, SmallShape<8, 2, 2, 1>>;
  using SmallFactorAndSolve =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<5, 2, 2, 1>,
                SmallShape<8, 4, 1, 1>, SmallShape<12, 4, 1, 1>, SmallShape<16, 8, 1, 24>,
                SmallShape<24, 8, 1, 1>, SmallShape<32, 8, 4, 1>>;
  using ColumnLeftLooking = ShapeList<LeftLookingShape<1, 8, 16>, LeftLookingShape<4, 16, 4>,
                                      LeftLookingShape<4, 8, 5>, LeftLookingShape<8, 16, 2>>;
  using RowLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 16, true>, LeftLookingShape<1, 16, 12, true>,
                LeftLookingShape<1, 16, 15, true>, LeftLookingShape<4, 16, 4, true>,
                LeftLookingShape<4, 16, 5, true>, LeftLookingShape<8, 16, 2, true>>;
  using ColumnWide = ShapeList<>;
  using RowWide = ShapeList<>;
  using Panel = ShapeList<PanelShape<4, 4, 5>>;
  using Strip = StripShape<4, 4, 3>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 20>, SolveShape<24, 1, 1, 1, 2>>;
  using SolveMany =
      ShapeList<SolveShape<4, 4, 1, 4, 4>, SolveShape<8, 4, 1, 1, 12>, SolveShape<24, 4, 1, 1, 2>>;
  using BlockSolveOne = ShapeList<BlockSolveShape<128, 2, 1, 1, 5>>;
  using BlockSolveMany = ShapeList<BlockSolveShape<128, 2, 1, 16, 4>>;
};
template <>
struct Shapes<double> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 8>,
                SmallShape<7, 4, 1, 32>, SmallShape<8, 8, 1, 32>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<15, 8, 1, 16>, SmallShape<16, 16, 1, 20>,
                SmallShape<24, 8, 4, 3>, SmallShape<32, 16, 1, 12>, SmallShape<40, 32, 1, 16>,
                SmallShape<48, 32, 1, 12>, SmallShape<64, 32, 1, 8>>;
  using DealtSmall =
      DealtShape<6, 2, SmallClass<24, 8>, SmallClass<32, 16>, SmallClass<16, 16>, SmallClass<8, 8>>;
  using SmallSolve =
      ShapeList<SmallShape<2, 2, 4, 1>, SmallShape<4, 4, 4, 1>, SmallShape<8, 4, 1, 24>,
                SmallShape<12, 4, 1, 16>, SmallShape<16, 4, 1, 1>, SmallShape<24, 4, 1, 1>,
                SmallShape<32, 8, 1, 1>>;
  using SmallSolveOne = ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>,
                                  SmallShape<6, 1, 2, 1>, SmallShape<8, 2, 2, 1>>;
  using SmallFactorAndSolve =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<8, 4, 1, 24>,
                SmallShape<12, 4, 4, 1>, SmallShape<16, 8, 1, 1>, SmallShape<24, 8, 4, 1>,
                SmallShape<32, 8, 4, 1>>;
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12>, LeftLookingShape<1, 8, 8>, LeftLookingShape<2, 8, 6>,
                LeftLookingShape<3, 8, 4>, LeftLookingShape<3, 8, 5>, LeftLookingShape<4, 8, 4>,
                LeftLookingShape<8, 8, 2>>;
  using RowLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 10, true>, LeftLookingShape<1, 16, 8, true>,
                LeftLookingShape<2, 16, 5>, LeftLookingShape<4, 16, 2>, LeftLookingShape<8, 16, 1>>;
  using ColumnWide = ShapeList<WideShape<4, 2, 1, 8, 3, 4>, WideShape<8, 2, 1, 16, 3, 2>>;
  using RowWide = ShapeList<>;
  using Panel = ShapeList<PanelShape<4, 12, 4>>;
  using Strip = StripShape<8, 8, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 1, 4, 4>, SolveShape<8, 1, 2, 1, 8>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>>;
  using BlockSolveMany =
      ShapeList<BlockSolveShape<96, 2, 1, 16, 2>, BlockSolveShape<128, 1, 1, 16, 2>>;
};
template <>
struct Shapes<Complex<float>> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 14>,
                SmallShape<7, 4, 1, 28>, SmallShape<8, 8, 1, 28>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<15, 8, 1, 16>, SmallShape<16, 16, 1, 20>,
                SmallShape<24, 8, 4, 3>, SmallShape<32, 16, 4, 3>, SmallShape<40, 32, 1, 16>,
                SmallShape<48, 32, 1, 12>>;
  using DealtSmall = DealtShape<6, 2, SmallClass<24, 8>, SmallClass<32, 16>, SmallClass<16, 16>>;
  using SmallSolve =
      ShapeList<SmallShape<2, 2, 4, 1>, SmallShape<4, 4, 4, 1>, SmallShape<8, 4, 1, 24>,
                SmallShape<12, 4, 4, 1>, SmallShape<16, 4, 1, 1>, SmallShape<24, 8, 1, 1>,
                SmallShape<32, 8, 1, 10>>;
  using SmallSolveOne = ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>,
                                  SmallShape<6, 1, 2, 1>, SmallShape<8, 2, 2, 1>>;
  using SmallFactorAndSolve =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<8, 4, 1, 24>,
                SmallShape<12, 4, 1, 1>, SmallShape<16, 8, 1, 1>, SmallShape<24, 8, 4, 1>,
                SmallShape<32, 16, 1, 10>>;
  using ColumnLeftLooking = ShapeList<LeftLookingShape<1, 8, 16>, LeftLookingShape<3, 8, 5>,
                                      LeftLookingShape<4, 8, 4>, LeftLookingShape<8, 8, 2>>;
  using RowLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 16, true>, LeftLookingShape<4, 16, 4, true>,
                LeftLookingShape<8, 16, 2, true>>;
  using ColumnWide = ShapeList<WideShape<2, 1, 4, 8, 3, 4>>;
  using RowWide = ShapeList<WideShape<4, 1, 2, 8, 3, 4>>;
  using Panel = ShapeList<PanelShape<4, 4, 3>>;
  using Strip = StripShape<2, 4, 4>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 4, 1, 4, 3>, SolveShape<4, 4, 1, 4, 3>, SolveShape<8, 2, 2, 1, 5>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>>;
  using BlockSolveMany =
      ShapeList<BlockSolveShape<96, 1, 2, 8, 2>, BlockSolveShape<128, 1, 1, 16, 2>>;
};
template <>
struct Shapes<Complex<double>> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 1, 32>,
                SmallShape<6, 4, 1, 24>, SmallShape<8, 8, 1, 24>, SmallShape<10, 4, 4, 3>,
                SmallShape<12, 4, 8, 1>, SmallShape<16, 8, 4, 3>, SmallShape<24, 8, 4, 2>,
                SmallShape<32, 32, 1, 12>, SmallShape<40, 32, 1, 8>>;
  using DealtSmall = DealtShape<4, 2, SmallClass<24, 8>, SmallClass<32, 32>, SmallClass<16, 8>>;
  using SmallSolve =
      ShapeList<SmallShape<4, 2, 4, 1>, SmallShape<8, 2, 4, 1>, SmallShape<12, 4, 1, 1>,
                SmallShape<16, 4, 1, 1>, SmallShape<24, 8, 1, 1>, SmallShape<32, 16, 1, 1>>;
  using SmallSolveOne =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<7, 1, 2, 1>>;
  using SmallFactorAndSolve =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<6, 2, 2, 1>,
                SmallShape<8, 4, 4, 1>, SmallShape<12, 4, 4, 1>, SmallShape<16, 4, 1, 1>,
                SmallShape<24, 8, 4, 1>>;
  using ColumnLeftLooking = ShapeList<LeftLookingShape<1, 8, 8>, LeftLookingShape<2, 8, 4>,
                                      LeftLookingShape<4, 8, 2>, LeftLookingShape<8, 8, 1>>;
  using RowLeftLooking = ColumnLeftLooking;
  using ColumnWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4>, WideShape<4, 1, 2, 16, 2, 2>>;
  using RowWide = ShapeList<WideShape<8, 2, 1, 8, 3, 1>>;
  using Panel = ShapeList<PanelShape<8, 9, 1>>;
  using Strip = StripShape<4, 4, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 6>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 2, 1, 7>, SolveShape<8, 2, 2, 1, 6>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<80, 2, 1, 1, 1>, BlockSolveShape<128, 1, 1, 1, 1>>;
  using BlockSolveMany =
      ShapeList<BlockSolveShape<96, 2, 2, 8, 2>, BlockSolveShape<128, 1, 2, 8, 1>>;
};

}  // namespace chol::cuda
