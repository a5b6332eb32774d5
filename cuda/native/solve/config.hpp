// What the kernel that solves with one matrix is made of in each precision.
#pragma once

#include <cstdint>

#include "common/instances.hpp"
#include "common/scalar.cuh"

namespace chol::cuda::solve {

inline constexpr int kShares = 4;  ///< lanes that share a row of a product
inline constexpr int kSmall = 16;  ///< order of the blocks that one warp inverts

/// A line of instances.def.
template <int kTileOrder, int kColumnCount>
struct Shape {
  static constexpr int kOrder = kTileOrder, kColumns = kColumnCount;
};
/// Those of a precision, fewest right-hand sides first.
template <class T>
using Shapes = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, ...) +list_if<is_of<T>(#precision), Shape<__VA_ARGS__>>()
#include "native/solve/instances.def"
);
template <class First, class... Rest>
constexpr int tile_order(ShapeList<First, Rest...>) {
  static_assert(((First::kOrder == Rest::kOrder) && ...));
  return First::kOrder;
}
/// Right-hand sides that the kernel for so many works on.
template <class... Built>
constexpr int kernel_columns(ShapeList<Built...>, int64_t nrhs) {
  int columns = 0;
  ((columns = columns == 0 || columns < nrhs ? Built::kColumns : columns), ...);
  return columns;
}

template <class T>
struct Config {
  /// Unknowns of a strip, and order of the tiles.
  static constexpr int kOrder = tile_order(Shapes<T>{});
  static constexpr int kThreads = kShares * kOrder;
  /// Lanes whose accesses are served at once.
  static constexpr int kPhase = 128 / int(sizeof(T));
  /// Lines of a tile are so far apart that the reads of a product meet no bank twice.
  /// @param across whether the rows of the product lie along the lines.
  static constexpr int pitch(bool across) { return kOrder + (across ? kPhase / kShares : kShares); }
  static constexpr int kTile = kOrder * (kOrder + larger(kPhase / kShares, kShares));
};

/// The matrix as a kernel reads it: the lower triangle of an array, or of the swapped one.
template <class T>
struct Factor {
  const T* A;
  int64_t ld;
  int n;
  bool aligned;  ///< whether copies of 16 bytes can be had
};

/// The same of so many right-hand sides at a time.
template <class T, int kColumns>
struct Columns {
  /// Elements between the rows of a block of right-hand sides: a multiple of 16 bytes, so that the
  /// four rows that a warp reads at once meet no bank twice.
  static constexpr int kPitch = kColumns == 1 ? 1 : kColumns + 16 / int(sizeof(T));
  static constexpr int kVector = Config<T>::kOrder * kPitch;
  static constexpr int kBegin = 128;  ///< bytes before the tiles: the block's place in the order
  static constexpr int kMostBytes = 227 * 1024;
  static constexpr int kVectorBytes = 3 * kVector * int(sizeof(T));
  static constexpr int kTileBytes = Config<T>::kTile * int(sizeof(T));
  /// Tiles on their way at a time.
  static constexpr int kStages = smaller(8, (kMostBytes - kBegin - kVectorBytes) / kTileBytes - 2);
  static_assert(kStages >= 2);
  static constexpr int kSharedBytes = kBegin + kVectorBytes + (kStages + 2) * kTileBytes;
};

}  // namespace chol::cuda::solve
