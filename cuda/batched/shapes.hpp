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
/// What multiplies in left_looking.cuh and wide_left_looking.cuh. Double precision is always by
/// tensor cores, single precision by those of double precision where the device has them at full
/// rate.
enum class ProductBy : bool { fma, tensor };
/// left_looking.cuh: warps a matrix, columns staged at a time, blocks a multiprocessor, columns of
/// a block, what multiplies, and kOption: of column storage, whether a strip's first operands are
/// asked for while the one before is eliminated; of row storage, whether rows come past the
/// first-level cache. kReadAheadOption: whether the operands of a step are read while the one
/// before is multiplied and, in single precision, lines that begin anywhere come shifted
/// (staged_rows.cuh).
template <int kWarpCount, int kStageDepth, int kBlockCount, int kColumnCount, ProductBy kProductBy,
          bool kOption = false, bool kReadAheadOption = false>
struct LeftLookingShape {
  using Shape = LeftLookingShape;
  static constexpr int kWarps = kWarpCount, kDepth = kStageDepth, kBlocks = kBlockCount;
  static constexpr int kColumns = kColumnCount;
  static constexpr ProductBy kBy = kProductBy;
  static constexpr bool kAhead = kOption, kPastFirst = kOption;
  static constexpr bool kReadsAhead = kReadAheadOption;
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
/// blocks a multiprocessor; what multiplies, where there are several right-hand sides.
template <int kMaxOrder, int kWarpBlockCount, int kGroupCount, int kColumnCount, int kBlockCount,
          ProductBy kProductBy = ProductBy::fma>
struct BlockSolveShape {
  static constexpr ProductBy kBy = kProductBy;
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
template <>
inline constexpr int kRowLanes<double> = 48;
template <>
inline constexpr int kRowLanes<Complex<double>> = 40;

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
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 24, 16, ProductBy::tensor>,
                LeftLookingShape<1, 16, 14, 16, ProductBy::tensor, true>,
                LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, true, true>,
                InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, true, true>, 1, 11>,
                LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, true, true>,
                LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, false, true>,
                LeftLookingShape<8, 16, 2, 32, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 16>,
                LeftLookingShape<4, 8, 5, 32, ProductBy::fma>,
                LeftLookingShape<1, 8, 16, 32, ProductBy::fma>>;
  /// What comes first for matrices whose lines begin anywhere: more warps, which have lines in
  /// common.
  using ShiftedLeftLooking =
      ShapeList<InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, false, true>, 1, 11>,
                InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, false, true>, 2, 6>>;
  using RowLeftLooking =
      ShapeList<InPlaceOf<LeftLookingShape<1, 16, 16, 16, ProductBy::tensor, true>, 1, 24>,
                InPlaceOf<LeftLookingShape<1, 16, 16, 16, ProductBy::tensor, true>, 1, 14>,
                LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, true>,
                InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, true>, 1, 11>,
                LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, true>,
                LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, true, true>,
                LeftLookingShape<8, 16, 2, 32, ProductBy::tensor, true>,
                InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, true>, 8, 16>,
                LeftLookingShape<4, 16, 5, 32, ProductBy::fma, true>,
                LeftLookingShape<1, 8, 16, 32, ProductBy::fma, true>>;
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
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, true>,
                LeftLookingShape<2, 8, 5, 16, ProductBy::tensor, true>,
                LeftLookingShape<3, 8, 4, 32, ProductBy::tensor>,
                LeftLookingShape<4, 8, 4, 32, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 32, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 16>,
                InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 24>>;
  using RowLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, true>,
                InPlaceOf<LeftLookingShape<4, 16, 2, 32, ProductBy::tensor>, 3, 3>,
                InPlaceOf<LeftLookingShape<2, 16, 5, 32, ProductBy::tensor>, 3, 4>,
                InPlaceOf<LeftLookingShape<1, 16, 8, 32, ProductBy::tensor, true>, 3, 5>,
                InPlaceOf<LeftLookingShape<1, 16, 8, 32, ProductBy::tensor, true>, 2, 5>,
                LeftLookingShape<4, 16, 2, 32, ProductBy::tensor>,
                LeftLookingShape<8, 16, 1, 32, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, true>, 8, 16>>;
  using ColumnWide = ShapeList<WideShape<8, 2, 1, 16, 3, 2, ProductBy::tensor>>;
  using RowWide = ShapeList<>;
  using Panel = ShapeList<PanelShape<4, 12, 4>>;
  using Strip = StripShape<8, 8, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 1, 4, 4>, SolveShape<8, 1, 2, 1, 8>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>>;
  using BlockSolveMany = ShapeList<BlockSolveShape<96, 2, 1, 16, 2, ProductBy::tensor>,
                                   BlockSolveShape<128, 1, 1, 16, 2, ProductBy::tensor>>;
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
                SmallShape<32, 8, 4, 2>>;
  using ColumnLeftLooking = ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, true>,
                                      LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, true, true>,
                                      LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, true>,
                                      LeftLookingShape<4, 16, 3, 16, ProductBy::tensor>,
                                      LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>,
                                      LeftLookingShape<4, 8, 4, 16, ProductBy::fma>,
                                      LeftLookingShape<1, 8, 16, 16, ProductBy::fma>>;
  using RowLeftLooking = ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, true>,
                                   LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, true, true>,
                                   LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, true>,
                                   LeftLookingShape<4, 16, 3, 16, ProductBy::tensor, true>,
                                   LeftLookingShape<8, 16, 2, 16, ProductBy::tensor, true>,
                                   LeftLookingShape<4, 16, 4, 16, ProductBy::fma, true>,
                                   LeftLookingShape<1, 8, 16, 16, ProductBy::fma, true>>;
  using ColumnWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                               WideShape<2, 1, 4, 8, 3, 4, ProductBy::fma>>;
  using RowWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                            WideShape<4, 1, 2, 8, 3, 4, ProductBy::fma>>;
  using Panel = ShapeList<PanelShape<4, 4, 3>>;
  using Strip = StripShape<2, 4, 4>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 4, 1, 4, 3>, SolveShape<4, 4, 1, 4, 3>, SolveShape<8, 2, 2, 1, 5>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>>;
  using BlockSolveMany =
      ShapeList<BlockSolveShape<64, 2, 2, 8, 5, ProductBy::tensor>,
                BlockSolveShape<80, 1, 2, 8, 3, ProductBy::tensor>,
                BlockSolveShape<96, 2, 2, 8, 3, ProductBy::tensor>,
                BlockSolveShape<128, 1, 2, 8, 2, ProductBy::tensor>,
                BlockSolveShape<96, 1, 2, 8, 2>, BlockSolveShape<128, 1, 1, 16, 2>>;
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
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, true>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, true>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 1, 8, ProductBy::tensor>, 8, 16>>;
  using RowLeftLooking =
      ShapeList<InPlaceOf<LeftLookingShape<1, 8, 8, 16, ProductBy::tensor>, 1, 12>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>>;
  using ColumnWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                               WideShape<4, 1, 2, 16, 2, 2, ProductBy::tensor>>;
  using RowWide = ShapeList<WideShape<8, 2, 1, 8, 3, 1, ProductBy::tensor>>;
  using Panel = ShapeList<PanelShape<8, 9, 1>>;
  using Strip = StripShape<4, 4, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 6>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 2, 1, 7>, SolveShape<8, 2, 2, 1, 6>>;
  using BlockSolveOne = ShapeList<BlockSolveShape<128, 1, 1, 1, 1>>;
  using BlockSolveMany = ShapeList<BlockSolveShape<96, 2, 2, 8, 2, ProductBy::tensor>,
                                   BlockSolveShape<128, 1, 2, 8, 1, ProductBy::tensor>>;
};

}  // namespace chol::cuda
