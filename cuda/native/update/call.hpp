// Constants and arguments of the kernel of a trailing update.
#pragma once

#include "native/persistent/config.hpp"
#include "native/update/tiles.hpp"

namespace chol::cuda::update {

using persistent::kBarrierBytes;
using persistent::kSmall;

/// A line of instances.def.
template <int kTileOrder, int kOperandPitch, int kStageCount, int kWarpCount, int kRowCount>
struct Shape {
  static constexpr int kOrder = kTileOrder;
  /// Each warp has this number of rows of 16 x 16 blocks and two columns of them.
  static constexpr int kWarps = kWarpCount, kBlockRows = kRowCount, kBlockColumns = 2;
  static constexpr int kWarpsDown = kOrder / (kBlockRows * kSmall);
  static constexpr int kThreads = 32 * kWarps;
  /// Columns in shared memory are at a distance that avoids bank conflicts of a warp's reads.
  static constexpr int kPitch = kOperandPitch;
  static constexpr int kStages = kStageCount;
};
template <class T>
using ShapeOf = decltype(only(ShapeList<>{}
#define CHOL_INSTANCE(precision, ...) +list_if<is_of<T>(#precision), Shape<__VA_ARGS__>>()
#include "native/update/instances.def"
                              ));

template <class T>
struct Config : ShapeOf<T> {
  using ShapeOf<T>::kPitch, ShapeOf<T>::kStages;
  static constexpr bool kComplex = Traits<T>::is_complex;
  static constexpr int kParts = kComplex ? 2 : 1;
  static constexpr int kOperandBytes = kSmall * kPitch * int(sizeof(T));
  static constexpr int kSharedBytes = kBarrierBytes + kStages * 2 * kOperandBytes;
};

/// From the lower triangle of a matrix, columns [column, column + width) down to row n, the product
/// of its columns [first, first + depth) with their adjoint is subtracted. All but n and the end of
/// the last columns are multiples of 16.
template <class T>
struct Call {
  T* A;
  int64_t ld;
  int n, first, depth, column, width;

  CHOL_ANYWHERE Tiles tiles() const {
    constexpr int kOrder = Config<T>::kOrder;
    return {(n - column + kOrder - 1) / kOrder, (width + kOrder - 1) / kOrder};
  }
  template <bool swapped>
  CHOL_ANYWHERE T* at(int64_t i, int64_t j) const {
    return swapped ? A + i * ld + j : A + j * ld + i;
  }
};

/// From a rectangle of n rows and `width` columns the product of `depth` columns of one operand (n
/// rows) with the adjoint of those of another (`width` rows) is subtracted. width and depth are
/// multiples of 16.
template <class T>
struct RectangleCall {
  T* A;
  int64_t ld;
  const T *left, *right;
  int64_t left_ld, right_ld;
  int n, width, depth;
  static constexpr int column = 0;  ///< where the rectangle begins

  CHOL_ANYWHERE RectangleTiles tiles() const {
    constexpr int kOrder = Config<T>::kOrder;
    return {(n + kOrder - 1) / kOrder, (width + kOrder - 1) / kOrder};
  }
  template <bool swapped>
  CHOL_ANYWHERE T* at(int64_t i, int64_t j) const {
    return swapped ? A + i * ld + j : A + j * ld + i;
  }
  /// Column k from row `row` on of an operand.
  template <bool swapped>
  CHOL_ANYWHERE static const T* of(const T* operand, int64_t operand_ld, int64_t row, int64_t k) {
    return swapped ? operand + row * operand_ld + k : operand + k * operand_ld + row;
  }
};

}  // namespace chol::cuda::update
