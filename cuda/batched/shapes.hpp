// The kernels that are built: for each element type the shapes of each kernel, in the order in
// which they are tried. What a plan asks for is looked up here; what is not listed is not built.
#pragma once

#include "batched/shape.hpp"

namespace chol::cuda {

template <class T>
struct Shapes;
/// Orders up to which matrices stored by rows go by small.cuh where a plan has left_looking.cuh,
/// unless their last row is a border.
template <class T>
inline constexpr int kRowLanes = 0;
template <>
inline constexpr int kRowLanes<float> = 62;
template <>
inline constexpr int kRowLanes<double> = 48;
template <>
inline constexpr int kRowLanes<Complex<double>> = 40;

// Small has a list a task: a solve holds right-hand sides beside the matrix, and SmallSolveOne is
// what is faster for one of them than what SmallSolve has. GridSolve and GridFactorAndSolve have
// what is faster for one than all others, where it is. Panel and Strip serve
// one large matrix, whose leaves they factor. LeftLooking and Wide have a list for either storage:
// of row storage 16 columns make whole lines, which pays where matrices are large; Anywhere has
// what comes first for matrices whose lines begin anywhere: more warps, which have lines in common;
// ColumnBordered for those whose last row is a border, which takes registers;
// Wide has what is faster than LeftLooking somewhere. Solve has one for one right-hand side, of
// which other kernels take most, and one for more; BlockSolveOneAnywhere what comes first where
// columns begin anywhere.
template <>
struct Shapes<float> {
  using SmallFactor =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<8, 4, 1, 32>,
                SmallShape<12, 4, 1, 24>, SmallShape<16, 8, 1, 24>, SmallShape<20, 16, 1, 28>,
                SmallShape<24, 16, 1, 24>, SmallShape<28, 16, 1, 20>, SmallShape<32, 16, 4, 4>,
                SmallShape<35, 16, 1, 14>, SmallShape<40, 32, 1, 24>, SmallShape<48, 32, 1, 20>,
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
  using GridSolve = ShapeList<GridShape<25, 28, 16, 1, 24>, GridShape<29, 31, 16, 1, 24>,
                              GridShape<33, 36, 16, 1, 20>, GridShape<37, 40, 16, 1, 20>,
                              GridShape<41, 47, 16, 1, 16>>;
  using GridFactorAndSolve = ShapeList<GridShape<17, 20, 16, 1, 20>, GridShape<21, 24, 16, 1, 20>,
                                       GridShape<25, 28, 16, 1, 20>, GridShape<29, 32, 16, 1, 16>,
                                       GridShape<33, 36, 16, 1, 14>, GridShape<37, 40, 16, 1, 11>,
                                       GridShape<41, 44, 16, 1, 11>, GridShape<45, 48, 32, 1, 16>>;
  using ColumnLeftLooking = ShapeList<
      LeftLookingShape<1, 8, 24, 16, ProductBy::tensor>,
      LeftLookingShape<1, 16, 14, 16, ProductBy::tensor, kPastFirst | kReadsAhead>,
      LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kStartsNext | kReadsAhead>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kStartsNext | kReadsAhead>, 1,
                11>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kStartsNext | kReadsAhead>, 1,
                13>,
      LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, kAhead | kReadsAhead>,
      LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kPastFirst | kReadsAhead>,
      LeftLookingShape<8, 16, 2, 32, ProductBy::tensor>,
      InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 16>,
      LeftLookingShape<4, 8, 5, 32, ProductBy::fma>,
      LeftLookingShape<1, 8, 16, 32, ProductBy::fma>>;
  using ColumnAnywhere = ShapeList<
      InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead | kSavesRegisters>, 1,
                11>,
      InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead | kSavesRegisters>, 2,
                6>>;
  using ColumnBordered = ShapeList<>;
  using RowAnywhere = ShapeList<
      InPlaceOf<
          LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast | kStartsNext | kReadsAhead>, 1,
          24>,
      InPlaceOf<
          LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast | kStartsNext | kReadsAhead>, 1,
          14>,
      InPlaceOf<
          LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast | kStartsNext | kReadsAhead>, 1,
          12>,
      InPlaceOf<LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, kPast>, 1, 11>,
      InPlaceOf<LeftLookingShape<8, 16, 2, 32, ProductBy::tensor, kPast>, 8, 16>>;
  using RowLeftLooking = ShapeList<
      InPlaceOf<LeftLookingShape<1, 16, 16, 16, ProductBy::tensor, kPast>, 1, 24>,
      InPlaceOf<LeftLookingShape<1, 16, 16, 16, ProductBy::tensor, kPast>, 1, 14>,
      LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPastFirst | kReadsAhead>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPastFirst | kReadsAhead>, 1,
                11>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast>, 1, 13>,
      LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, kPast>,
      LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead>,
      LeftLookingShape<8, 16, 2, 32, ProductBy::tensor, kPast>,
      InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, kPast>, 8, 16>,
      LeftLookingShape<4, 16, 5, 32, ProductBy::fma, kPast>,
      LeftLookingShape<1, 8, 16, 32, ProductBy::fma, kPast>>;
  using ColumnWide = ShapeList<>;
  using RowWide = ShapeList<>;
  using Panel = ShapeList<PanelShape<4, 4, 5>>;
  using Strip = StripShape<4, 4, 3>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 20>, SolveShape<24, 1, 1, 1, 2>>;
  using SolveMany =
      ShapeList<SolveShape<4, 4, 1, 4, 4>, SolveShape<8, 4, 1, 1, 12>, SolveShape<24, 4, 1, 1, 2>>;
  using BlockSolveOne = ShapeList<BlockSolveShape<128, 2, 1, 1, 5>,
                                  From<225, BlockSolveShape<256, 1, 1, 1, 2, ProductBy::fma, 3>>,
                                  From<193, BlockSolveShape<320, 2, 1, 1, 1>>,
                                  From<177, BlockSolveShape<192, 1, 1, 1, 3, ProductBy::fma, 1>>,
                                  BlockSolveShape<192, 2, 1, 1, 2>,
                                  BlockSolveShape<352, 1, 1, 1, 1, ProductBy::fma, 4>>;
  using BlockSolveOneAnywhere = ShapeList<>;
  using BlockSolveMany = ShapeList<BlockSolveShape<128, 2, 1, 16, 4>>;
};
template <>
struct Shapes<double> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 8>,
                SmallShape<7, 4, 1, 32>, SmallShape<8, 8, 1, 32>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<15, 8, 1, 16>, SmallShape<16, 16, 1, 20>,
                SmallShape<18, 16, 1, 20>, SmallShape<24, 16, 1, 16>, SmallShape<32, 16, 1, 12>,
                SmallShape<40, 32, 1, 16>, SmallShape<48, 32, 1, 12>, SmallShape<64, 32, 1, 8>>;
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
  using GridSolve = ShapeList<GridShape<18, 20, 16, 1, 24>, GridShape<21, 24, 16, 1, 20>,
                              GridShape<25, 28, 16, 1, 18>, GridShape<29, 31, 16, 1, 16>,
                              GridShape<33, 39, 16, 1, 11>>;
  using GridFactorAndSolve = ShapeList<
      GridShape<13, 16, 8, 1, 16>, GridShape<17, 20, 16, 1, 16>, GridShape<21, 24, 16, 1, 16>,
      GridShape<25, 28, 16, 1, 16>, GridShape<29, 32, 16, 1, 12>, GridShape<33, 36, 16, 1, 10>,
      GridShape<37, 40, 16, 1, 8>, GridShape<41, 44, 16, 1, 8>, GridShape<45, 48, 32, 1, 12>>;
  using ColumnLeftLooking = ShapeList<
      LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>,
      InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>, 1, 11>,
      LeftLookingShape<2, 8, 5, 16, ProductBy::tensor, kPastFirst | kReadsAhead>,
      InPlaceOf<LeftLookingShape<2, 8, 5, 16, ProductBy::tensor, kPastFirst | kReadsAhead>, 2, 6>,
      LeftLookingShape<3, 8, 4, 32, ProductBy::tensor>,
      LeftLookingShape<4, 8, 4, 32, ProductBy::tensor>,
      LeftLookingShape<8, 8, 2, 32, ProductBy::tensor>,
      InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 16>,
      InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>, 8, 24>>;
  using ColumnAnywhere = ShapeList<>;
  using ColumnBordered = ShapeList<>;
  using RowAnywhere = ShapeList<
      InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast | kStartsNext>, 1, 11>,
      InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast | kStartsNext>, 2, 6>,
      InPlaceOf<LeftLookingShape<2, 16, 5, 32, ProductBy::tensor>, 3, 4>,
      InPlaceOf<LeftLookingShape<2, 16, 5, 32, ProductBy::tensor>, 3, 5>>;
  using RowLeftLooking = ShapeList<
      LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast | kStartsNext>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPastFirst | kStartsNext>, 1,
                11>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPast>, 2, 6>,
      InPlaceOf<LeftLookingShape<4, 16, 2, 32, ProductBy::tensor, kStartsNext | kReadsAhead>, 3, 3>,
      InPlaceOf<LeftLookingShape<2, 16, 4, 32, ProductBy::tensor, kStartsNext | kReadsAhead>, 3, 4>,
      InPlaceOf<LeftLookingShape<1, 16, 8, 32, ProductBy::tensor, kPast | kStartsNext>, 3, 5>,
      InPlaceOf<LeftLookingShape<1, 16, 8, 32, ProductBy::tensor, kPast | kStartsNext>, 2, 5>,
      LeftLookingShape<4, 16, 2, 32, ProductBy::tensor, kStartsNext | kReadsAhead>,
      LeftLookingShape<8, 16, 1, 32, ProductBy::tensor>,
      InPlaceOf<LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, kPast>, 8, 16>>;
  using ColumnWide = ShapeList<WideShape<8, 2, 1, 16, 3, 2, ProductBy::tensor>>;
  using RowWide = ShapeList<>;
  using Panel = ShapeList<PanelShape<4, 12, 4>>;
  using Strip = StripShape<8, 8, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 1, 4, 4>, SolveShape<8, 1, 2, 1, 8>>;
  using BlockSolveOne = ShapeList<
      BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>,
      BlockSolveShape<144, 1, 1, 1, 2>, BlockSolveShape<176, 1, 1, 1, 2, ProductBy::fma, 2>,
      BlockSolveShape<224, 1, 1, 1, 1>, BlockSolveShape<256, 1, 1, 1, 1, ProductBy::fma, 2>>;
  using BlockSolveOneAnywhere = ShapeList<From<81, BlockSolveShape<128, 1, 1, 1, 3>>>;
  using BlockSolveMany = ShapeList<BlockSolveShape<96, 2, 1, 16, 2, ProductBy::tensor>,
                                   BlockSolveShape<128, 1, 1, 16, 2, ProductBy::tensor>>;
};
template <>
struct Shapes<Complex<float>> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 14>,
                SmallShape<7, 4, 1, 28>, SmallShape<8, 8, 1, 28>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<14, 8, 1, 16>, SmallShape<16, 16, 1, 28>,
                SmallShape<20, 16, 1, 20>, SmallShape<24, 16, 1, 16>, SmallShape<28, 16, 1, 16>,
                SmallShape<32, 16, 4, 3>, SmallShape<40, 32, 1, 16>, SmallShape<48, 32, 1, 12>>;
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
  using GridSolve = ShapeList<GridShape<17, 20, 16, 1, 24>, GridShape<21, 24, 16, 1, 20>,
                              GridShape<25, 28, 16, 1, 18>, GridShape<29, 31, 16, 1, 16>,
                              GridShape<33, 36, 16, 1, 13>, GridShape<37, 40, 16, 1, 11>>;
  using GridFactorAndSolve = ShapeList<GridShape<13, 16, 8, 1, 16>, GridShape<17, 20, 8, 1, 12>,
                                       GridShape<21, 24, 16, 1, 14>, GridShape<25, 28, 16, 1, 12>,
                                       GridShape<29, 32, 16, 4, 3>, GridShape<33, 36, 16, 1, 8>>;
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>,
                InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>, 1, 11>,
                LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, kAhead | kReadsAhead>,
                LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 16, 3, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<4, 8, 4, 16, ProductBy::fma>,
                LeftLookingShape<1, 8, 16, 16, ProductBy::fma>>;
  using ColumnAnywhere = ShapeList<>;
  using ColumnBordered = ShapeList<>;
  using RowAnywhere =
      ShapeList<InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast>, 1, 11>>;
  using RowLeftLooking = ShapeList<
      LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kSavesRegisters>,
      InPlaceOf<LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPast | kStartsNext>, 1, 11>,
      LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, kStartsNext | kReadsAhead>,
      LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kReadsAhead>,
      InPlaceOf<LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kPast | kStartsNext>, 2, 6>,
      LeftLookingShape<4, 16, 3, 16, ProductBy::tensor, kPast | kStartsNext>,
      LeftLookingShape<8, 16, 2, 16, ProductBy::tensor, kPast>,
      LeftLookingShape<4, 16, 4, 16, ProductBy::fma, kPast>,
      LeftLookingShape<1, 8, 16, 16, ProductBy::fma, kPast>>;
  using ColumnWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                               WideShape<2, 1, 4, 8, 3, 4, ProductBy::fma>>;
  using RowWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                            WideShape<4, 1, 2, 8, 3, 4, ProductBy::fma>>;
  using Panel = ShapeList<PanelShape<4, 4, 3>>;
  using Strip = StripShape<2, 4, 4>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 12>>;
  using SolveMany =
      ShapeList<SolveShape<2, 4, 1, 4, 3>, SolveShape<4, 4, 1, 4, 3>, SolveShape<8, 2, 2, 1, 5>>;
  using BlockSolveOne = ShapeList<
      BlockSolveShape<96, 2, 1, 1, 3>, BlockSolveShape<128, 1, 1, 1, 3>,
      BlockSolveShape<144, 1, 1, 1, 2>, BlockSolveShape<176, 1, 1, 1, 2, ProductBy::fma, 2>,
      BlockSolveShape<224, 1, 1, 1, 1>, BlockSolveShape<256, 1, 1, 1, 1, ProductBy::fma, 2>>;
  using BlockSolveOneAnywhere = ShapeList<From<81, BlockSolveShape<128, 1, 1, 1, 3>>>;
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
                SmallShape<12, 4, 8, 1>, SmallShape<16, 8, 4, 3>, SmallShape<20, 16, 1, 12>,
                SmallShape<24, 8, 4, 2>, SmallShape<28, 16, 1, 8>, SmallShape<32, 16, 1, 8>,
                SmallShape<40, 32, 1, 8>>;
  using DealtSmall = DealtShape<4, 2, SmallClass<24, 16>, SmallClass<32, 32>, SmallClass<16, 8>>;
  using SmallSolve =
      ShapeList<SmallShape<4, 2, 4, 1>, SmallShape<8, 2, 4, 1>, SmallShape<12, 4, 1, 1>,
                SmallShape<16, 4, 1, 1>, SmallShape<24, 8, 1, 1>, SmallShape<32, 16, 1, 1>>;
  using SmallSolveOne =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<7, 1, 2, 1>>;
  using SmallFactorAndSolve =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<6, 2, 2, 1>,
                SmallShape<8, 4, 4, 1>, SmallShape<12, 4, 4, 1>, SmallShape<16, 4, 1, 1>,
                SmallShape<24, 8, 4, 1>>;
  using GridSolve = ShapeList<GridShape<17, 20, 16, 1, 16>, GridShape<25, 28, 16, 1, 10>>;
  using GridFactorAndSolve = ShapeList<GridShape<17, 20, 16, 1, 12>, GridShape<25, 28, 16, 1, 8>,
                                       GridShape<29, 32, 16, 1, 8>, GridShape<33, 39, 32, 1, 8>>;
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 1, 8, ProductBy::tensor>, 8, 16>>;
  using ColumnAnywhere = ShapeList<>;
  using ColumnBordered = ShapeList<
      InPlaceOf<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor, kSavesRegisters>, 1, 12>>;
  using RowAnywhere = ShapeList<>;
  using RowLeftLooking =
      ShapeList<InPlaceOf<LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>, 1, 12>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>>;
  using ColumnWide = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                               WideShape<4, 1, 2, 16, 2, 2, ProductBy::tensor>>;
  using RowWide = ShapeList<WideShape<4, 2, 1, 8, 3, 2, ProductBy::tensor>,
                            WideShape<8, 2, 1, 8, 3, 1, ProductBy::tensor>>;
  using Panel = ShapeList<PanelShape<8, 9, 1>>;
  using Strip = StripShape<4, 4, 2>;
  using SolveOne = ShapeList<SolveShape<8, 1, 1, 1, 6>>;
  using SolveMany =
      ShapeList<SolveShape<2, 2, 1, 4, 4>, SolveShape<4, 2, 2, 1, 7>, SolveShape<8, 2, 2, 1, 6>>;
  using BlockSolveOne =
      ShapeList<BlockSolveShape<80, 1, 1, 1, 4, ProductBy::fma, 1>, BlockSolveShape<96, 1, 1, 1, 2>,
                BlockSolveShape<112, 1, 1, 1, 2, ProductBy::fma, 1>,
                BlockSolveShape<128, 1, 1, 1, 2, ProductBy::fma, 2>,
                BlockSolveShape<192, 1, 1, 1, 1, ProductBy::fma, 3>>;
  using BlockSolveOneAnywhere = ShapeList<>;
  using BlockSolveMany = ShapeList<BlockSolveShape<96, 2, 2, 8, 2, ProductBy::tensor>,
                                   BlockSolveShape<128, 1, 2, 8, 1, ProductBy::tensor>>;
};

}  // namespace chol::cuda
