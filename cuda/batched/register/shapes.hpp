// The kernels of matrices in registers: what they are compiled for, and those that are built, for
// each element type in the order in which they are tried. What is not listed is not built.
#pragma once

#include "common/shape_list.hpp"

namespace chol::cuda {

/// Those of one right-hand side are by a grid of lanes.
enum class SmallTask { factor, solve, factor_and_solve, solve_one, factor_and_solve_one };
template <SmallTask kTask>
inline constexpr bool kFactors = !(kTask == SmallTask::solve || kTask == SmallTask::solve_one);
template <SmallTask kTask>
inline constexpr bool kIsOfOne = kTask >= SmallTask::solve_one;
/// Orders up to kOrder, kLanes lanes a matrix.
template <int kMaxOrder, int kLaneCount>
struct SmallClass {
  static constexpr int kLeast = 0, kOrder = kMaxOrder, kLanes = kLaneCount;
};
/// register/kernel.cuh: the same, warps a block, blocks a multiprocessor (which bounds the
/// registers).
template <int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct SmallShape : SmallClass<kMaxOrder, kLaneCount> {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
};
/// Of one right-hand side, from order kLeast on.
template <int kLeastOrder, int kMaxOrder, int kLaneCount, int kWarpCount, int kBlockCount>
struct GridShape : SmallShape<kMaxOrder, kLaneCount, kWarpCount, kBlockCount> {
  static constexpr int kLeast = kLeastOrder;
};
/// register/vbatched_kernel.cuh: warps a block, blocks a multiprocessor, classes in the order in
/// which they are worked on.
template <int kWarpCount, int kBlockCount, class... Class>
struct VbatchedShape {
  static constexpr int kWarps = kWarpCount, kBlocks = kBlockCount;
  static constexpr int kShare = 16 * kWarps;  ///< most matrices of a block
  static constexpr int kOrder = larger(Class::kOrder...);
};

/// A list a task: a solve holds right-hand sides beside the matrix. SmallSolveOne has what is
/// faster for one right-hand side than what SmallSolve has, GridSolve and GridFactorAndSolve what
/// is faster for one than all others.
template <class T>
struct RegisterShapes;
template <>
struct RegisterShapes<float> {
  using SmallFactor =
      ShapeList<SmallShape<3, 1, 2, 1>, SmallShape<4, 2, 4, 1>, SmallShape<8, 4, 1, 32>,
                SmallShape<12, 4, 1, 24>, SmallShape<16, 8, 1, 24>, SmallShape<20, 16, 1, 28>,
                SmallShape<24, 16, 1, 24>, SmallShape<28, 16, 1, 20>, SmallShape<32, 16, 4, 4>,
                SmallShape<35, 16, 1, 14>, SmallShape<40, 32, 1, 24>, SmallShape<48, 32, 1, 20>,
                SmallShape<64, 32, 1, 16>>;
  using Vbatched = VbatchedShape<8, 2, SmallClass<32, 16>, SmallClass<16, 8>>;
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
};
template <>
struct RegisterShapes<double> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 8>,
                SmallShape<7, 4, 1, 32>, SmallShape<8, 8, 1, 32>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<15, 8, 1, 16>, SmallShape<16, 16, 1, 20>,
                SmallShape<18, 16, 1, 20>, SmallShape<24, 16, 1, 16>, SmallShape<32, 16, 1, 12>,
                SmallShape<40, 32, 1, 16>, SmallShape<48, 32, 1, 12>, SmallShape<64, 32, 1, 8>>;
  using Vbatched = VbatchedShape<6, 2, SmallClass<24, 8>, SmallClass<32, 16>, SmallClass<16, 16>,
                                 SmallClass<8, 8>>;
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
};
template <>
struct RegisterShapes<Complex<float>> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 4, 14>,
                SmallShape<7, 4, 1, 28>, SmallShape<8, 8, 1, 28>, SmallShape<11, 4, 4, 4>,
                SmallShape<12, 4, 12, 1>, SmallShape<14, 8, 1, 16>, SmallShape<16, 16, 1, 28>,
                SmallShape<20, 16, 1, 20>, SmallShape<24, 16, 1, 16>, SmallShape<28, 16, 1, 16>,
                SmallShape<32, 16, 4, 3>, SmallShape<40, 32, 1, 16>, SmallShape<48, 32, 1, 12>>;
  using Vbatched = VbatchedShape<6, 2, SmallClass<24, 8>, SmallClass<32, 16>, SmallClass<16, 16>>;
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
};
template <>
struct RegisterShapes<Complex<double>> {
  using SmallFactor =
      ShapeList<SmallShape<2, 1, 2, 1>, SmallShape<3, 2, 4, 1>, SmallShape<4, 4, 1, 32>,
                SmallShape<6, 4, 1, 24>, SmallShape<8, 8, 1, 24>, SmallShape<10, 4, 4, 3>,
                SmallShape<12, 4, 8, 1>, SmallShape<16, 8, 4, 3>, SmallShape<20, 16, 1, 12>,
                SmallShape<24, 8, 4, 2>, SmallShape<28, 16, 1, 8>, SmallShape<32, 16, 1, 8>,
                SmallShape<40, 32, 1, 8>>;
  using Vbatched = VbatchedShape<4, 2, SmallClass<24, 16>, SmallClass<32, 32>, SmallClass<16, 8>>;
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
};

}  // namespace chol::cuda
