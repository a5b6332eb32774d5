// The left-looking kernels that are built, for each element type in the order in which they are
// tried. What is not listed is not built.
#pragma once

#include "batched/left_looking/shape.hpp"

namespace chol::cuda {

/// A shape by another name: of row storage, and of columns that begin anywhere, what takes the
/// place of the one that a plan names, of eight warps what has the same block columns as a plan for
/// more matrices, so that their number does not change a bit.
template <class ItsShape, int kPlanWarpCount, int kPlanBlockCount>
struct InPlaceOf : ItsShape {
  static constexpr int kPlanWarps = kPlanWarpCount, kPlanBlocks = kPlanBlockCount;
};
/// A list for either triangle: of the upper one 16 columns make whole lines, which pays where
/// matrices are large. Misaligned has what comes first for misaligned columns: more warps, which
/// have lines in common. ColumnBordered has what comes first for matrices whose last row is
/// factored on its own (left_looking/bordering.cuh), which takes registers.
template <class T>
struct LeftLookingShapes;
template <>
struct LeftLookingShapes<float> {
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
  using ColumnMisaligned = ShapeList<
      InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead | kSavesRegisters>, 1,
                11>,
      InPlaceOf<LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead | kSavesRegisters>, 2,
                6>>;
  using ColumnBordered = ShapeList<>;
  using RowMisaligned = ShapeList<
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
};
template <>
struct LeftLookingShapes<double> {
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
  using ColumnMisaligned = ShapeList<>;
  using ColumnBordered = ShapeList<>;
  using RowMisaligned = ShapeList<
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
};
template <>
struct LeftLookingShapes<Complex<float>> {
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>,
                InPlaceOf<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>, 1, 11>,
                LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, kAhead | kReadsAhead>,
                LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 16, 3, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<4, 8, 4, 16, ProductBy::fma>,
                LeftLookingShape<1, 8, 16, 16, ProductBy::fma>>;
  using ColumnMisaligned = ShapeList<>;
  using ColumnBordered = ShapeList<>;
  using RowMisaligned =
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
};
template <>
struct LeftLookingShapes<Complex<double>> {
  using ColumnLeftLooking =
      ShapeList<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>,
                InPlaceOf<LeftLookingShape<8, 8, 1, 8, ProductBy::tensor>, 8, 16>>;
  using ColumnMisaligned = ShapeList<>;
  using ColumnBordered = ShapeList<
      InPlaceOf<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor, kSavesRegisters>, 1, 12>>;
  using RowMisaligned = ShapeList<>;
  using RowLeftLooking =
      ShapeList<InPlaceOf<LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>, 1, 12>,
                LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>>;
};

}  // namespace chol::cuda
