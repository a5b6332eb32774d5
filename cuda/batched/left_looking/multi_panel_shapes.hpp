// The left-looking kernels of several panels a block column: what they are compiled for, and those
// that are built, which are faster than those of one panel somewhere.
#pragma once

#include <type_traits>

#include "common/shape_list.hpp"

namespace chol::cuda {

/// left_looking/multi_panel_kernel.cuh: warps a matrix and how many of them lie side by side, row
/// blocks of a warp side by side, columns staged at a time, stages, blocks a multiprocessor, what
/// multiplies.
template <int kWarpCount, int kColumnGroupCount, int kPartCount, int kStageDepth, int kStageCount,
          int kBlockCount, ProductBy kProductBy>
struct WideShape {
  static constexpr ProductBy kBy = kProductBy;
  static constexpr int kWarps = kWarpCount, kColumnGroups = kColumnGroupCount;
  static constexpr int kParts = kPartCount, kDepth = kStageDepth, kStages = kStageCount;
  static constexpr int kBlocks = kBlockCount;
};

/// A list for either triangle.
template <class T>
struct MultiPanelShapes;
template <>
struct MultiPanelShapes<float> {
  using Column = ShapeList<>;
  using Row = ShapeList<>;
};
template <>
struct MultiPanelShapes<double> {
  using Column = ShapeList<WideShape<8, 2, 1, 16, 3, 2, ProductBy::tensor>>;
  using Row = ShapeList<>;
};
template <>
struct MultiPanelShapes<Complex<float>> {
  using Column = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                           WideShape<2, 1, 4, 8, 3, 4, ProductBy::fma>>;
  using Row = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                        WideShape<4, 1, 2, 8, 3, 4, ProductBy::fma>>;
};
template <>
struct MultiPanelShapes<Complex<double>> {
  using Column = ShapeList<WideShape<2, 1, 2, 8, 3, 4, ProductBy::tensor>,
                           WideShape<4, 1, 2, 16, 2, 2, ProductBy::tensor>>;
  using Row = ShapeList<WideShape<4, 2, 1, 8, 3, 2, ProductBy::tensor>,
                        WideShape<8, 2, 1, 8, 3, 1, ProductBy::tensor>>;
};

template <class T, bool kSwapped>
using WideShapes = std::conditional_t<kSwapped, typename MultiPanelShapes<T>::Row,
                                      typename MultiPanelShapes<T>::Column>;

}  // namespace chol::cuda
