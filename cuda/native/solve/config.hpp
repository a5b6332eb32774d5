// Constants of the kernel that solves with one matrix in each precision.
#pragma once

#include <cstdint>

#include "common/instances.hpp"
#include "common/scalar.cuh"

namespace chol::cuda::solve {

inline constexpr int kShares = 4;  ///< lanes that share a row of a product
inline constexpr int kSmall = 16;  ///< order of the blocks that one warp inverts

/// A line of instances.def.
template <int kTileOrder, int kColumnCount, int kLinkStrips>
struct Shape {
  static constexpr int kOrder = kTileOrder, kColumns = kColumnCount, kLink = kLinkStrips;
};
/// The instances of a precision, fewest right-hand sides first.
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
/// Capacity of the kernel used for so many right-hand sides, with so many strips a link; 0: none is
/// built.
template <class... Built>
constexpr int kernel_columns(ShapeList<Built...>, int64_t nrhs, int link) {
  int columns = 0;
  ((columns = Built::kLink == link && columns < nrhs ? Built::kColumns : columns), ...);
  return columns < nrhs ? 0 : columns;
}

template <class T>
struct Config {
  /// Unknowns of a strip, and order of the tiles.
  static constexpr int kOrder = tile_order(Shapes<T>{});
  static constexpr int kThreads = kShares * kOrder;
  /// Lanes whose accesses are in one transaction.
  static constexpr int kPhase = 128 / int(sizeof(T));
  /// Pitch of the lines of a tile, without bank conflicts in the reads of a product. @param across
  /// whether the rows of the product are along the lines.
  static constexpr int pitch(bool across) { return kOrder + (across ? kPhase / kShares : kShares); }
  static constexpr int kTile = kOrder * (kOrder + larger(kPhase / kShares, kShares));
};

/// The matrix for a kernel: the lower triangle of an array, or of the swapped one.
template <class T>
struct Factor {
  const T* A;
  int64_t ld;
  int n;
  bool aligned;  ///< whether copies of 16 bytes are possible
};
template <class T>
bool is_aligned(const T* A, int64_t ld) {
  return (reinterpret_cast<uintptr_t>(A) | uint64_t(ld) * sizeof(T)) % 16 == 0;
}

/// Elements between the rows of a block of right-hand sides: a multiple of 16 bytes, so that the
/// four rows that a warp reads together have no bank conflicts.
template <class T, int kColumns>
inline constexpr int kVectorPitch = kColumns == 1 ? 1 : kColumns + 16 / int(sizeof(T));

/// The same for a number of right-hand sides at a time, and strips a link of the chain.
template <class T, int kColumns, int kLink>
struct Columns {
  static constexpr int kPitch = kVectorPitch<T, kColumns>;
  static constexpr int kVector = Config<T>::kOrder * kPitch;
  static constexpr int kBegin = 128;  ///< bytes before the tiles: the block's position in the order
  static constexpr int kMostBytes = 227 * 1024;
  /// Solutions and sums in shared memory.
  static constexpr int kVectors = kLink == 1 ? 3 : 2 + 2 * kLink;
  static constexpr int kVectorBytes = kVectors * kVector * int(sizeof(T));
  static constexpr int kTileBytes = Config<T>::kTile * int(sizeof(T));
  /// Tiles in flight.
  static constexpr int kStages = smaller(8, (kMostBytes - kBegin - kVectorBytes) / kTileBytes - 2);
  /// Rows of tiles for a link.
  static constexpr int kLinkStages = kStages / kLink;
  static_assert(kStages >= (kLink == 1 ? 2 : 2 * kLink));
  static constexpr int kSharedBytes = kBegin + kVectorBytes + (kStages + 2) * kTileBytes;
};

}  // namespace chol::cuda::solve
