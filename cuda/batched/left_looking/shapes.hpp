// The left-looking kernels that are built. Which of them serves a call is a row
// (tune/factor_rows.cpp).
#pragma once

#include <type_traits>

#include "batched/left_looking/shape.hpp"

namespace chol::cuda {

/// A list for either triangle; ColumnFused has kernels that are built only with a fused right-hand
/// side, of the lower triangle.
template <class T>
struct LeftLookingShapes;
template <>
struct LeftLookingShapes<float> {
  using Column =
      ShapeList<LeftLookingShape<1, 8, 24, 16, ProductBy::tensor>,
                LeftLookingShape<1, 16, 14, 16, ProductBy::tensor, kPastFirst | kReadsAhead>,
                LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kStartsNext | kReadsAhead>,
                LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, kAhead | kReadsAhead>,
                LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kPastFirst | kReadsAhead>,
                LeftLookingShape<8, 16, 2, 32, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>,
                LeftLookingShape<4, 8, 5, 32, ProductBy::fma>,
                LeftLookingShape<1, 8, 16, 32, ProductBy::fma>,
                LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead | kSavesRegisters>>;
  using Row = ShapeList<
      LeftLookingShape<1, 16, 16, 16, ProductBy::tensor, kPast>,
      LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPastFirst | kReadsAhead>,
      LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast>,
      LeftLookingShape<2, 16, 6, 32, ProductBy::tensor, kPast>,
      LeftLookingShape<4, 16, 4, 32, ProductBy::tensor, kReadsAhead>,
      LeftLookingShape<8, 16, 2, 32, ProductBy::tensor, kPast>,
      LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, kPast>,
      LeftLookingShape<4, 16, 5, 32, ProductBy::fma, kPast>,
      LeftLookingShape<1, 8, 16, 32, ProductBy::fma, kPast>,
      LeftLookingShape<1, 16, 12, 32, ProductBy::tensor, kPast | kStartsNext | kReadsAhead>>;
  using ColumnFused = ShapeList<>;
};
template <>
struct LeftLookingShapes<double> {
  using Column =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>,
                LeftLookingShape<2, 8, 5, 16, ProductBy::tensor, kPastFirst | kReadsAhead>,
                LeftLookingShape<3, 8, 4, 32, ProductBy::tensor>,
                LeftLookingShape<4, 8, 4, 32, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 32, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>>;
  using Row =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast | kStartsNext>,
                LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPastFirst | kStartsNext>,
                LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPast>,
                LeftLookingShape<4, 16, 2, 32, ProductBy::tensor, kStartsNext | kReadsAhead>,
                LeftLookingShape<2, 16, 4, 32, ProductBy::tensor, kStartsNext | kReadsAhead>,
                LeftLookingShape<1, 16, 8, 32, ProductBy::tensor, kPast | kStartsNext>,
                LeftLookingShape<8, 16, 1, 32, ProductBy::tensor>,
                LeftLookingShape<8, 8, 2, 16, ProductBy::tensor, kPast>,
                LeftLookingShape<2, 16, 5, 32, ProductBy::tensor>>;
  using ColumnFused = ShapeList<>;
};
template <>
struct LeftLookingShapes<Complex<float>> {
  using Column = ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kAhead>,
                           LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, kAhead | kReadsAhead>,
                           LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kAhead>,
                           LeftLookingShape<4, 16, 3, 16, ProductBy::tensor>,
                           LeftLookingShape<8, 8, 2, 16, ProductBy::tensor>,
                           LeftLookingShape<4, 8, 4, 16, ProductBy::fma>,
                           LeftLookingShape<1, 8, 16, 16, ProductBy::fma>>;
  using Row =
      ShapeList<LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kSavesRegisters>,
                LeftLookingShape<1, 16, 12, 16, ProductBy::tensor, kPast | kStartsNext>,
                LeftLookingShape<1, 16, 8, 16, ProductBy::tensor, kStartsNext | kReadsAhead>,
                LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kReadsAhead>,
                LeftLookingShape<2, 16, 5, 16, ProductBy::tensor, kPast | kStartsNext>,
                LeftLookingShape<4, 16, 3, 16, ProductBy::tensor, kPast | kStartsNext>,
                LeftLookingShape<8, 16, 2, 16, ProductBy::tensor, kPast>,
                LeftLookingShape<4, 16, 4, 16, ProductBy::fma, kPast>,
                LeftLookingShape<1, 8, 16, 16, ProductBy::fma, kPast>,
                LeftLookingShape<1, 8, 12, 16, ProductBy::tensor, kPast>>;
  using ColumnFused = ShapeList<>;
};
template <>
struct LeftLookingShapes<Complex<double>> {
  using Column = ShapeList<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor>,
                           LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                           LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                           LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                           LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>,
                           LeftLookingShape<8, 8, 1, 8, ProductBy::tensor>>;
  using Row = ShapeList<LeftLookingShape<1, 8, 8, 16, ProductBy::tensor, kAhead>,
                        LeftLookingShape<2, 8, 4, 16, ProductBy::tensor, kAhead>,
                        LeftLookingShape<4, 8, 2, 16, ProductBy::tensor>,
                        LeftLookingShape<8, 8, 1, 16, ProductBy::tensor>>;
  using ColumnFused = ShapeList<LeftLookingShape<1, 8, 12, 8, ProductBy::tensor, kSavesRegisters>>;
};

template <class... A, class... B>
ShapeList<A..., B...> joined(ShapeList<A...>, ShapeList<B...>);
template <class T, bool kSwapped, bool kFused>
using LeftLookingList = std::conditional_t<
    kSwapped, typename LeftLookingShapes<T>::Row,
    std::conditional_t<kFused,
                       decltype(joined(typename LeftLookingShapes<T>::Column{},
                                       typename LeftLookingShapes<T>::ColumnFused{})),
                       typename LeftLookingShapes<T>::Column>>;

}  // namespace chol::cuda
