// Constants of the kernel of one matrix in each precision. All arithmetic is in double precision,
// by its tensor cores: they take elements of single precision exactly.
#pragma once

#include <cstdint>

#include "common/instances.hpp"
#include "common/scalar.cuh"

namespace chol::cuda::persistent {

inline constexpr int kSmall = 16;  ///< order of the blocks that a warp multiplies

/// A line of instances.def.
template <int kTileOrder, int kTilePitch, int kOperandPitch, int kStageCount, int kGroupCount,
          int kBlockWarps>
struct Shape {
  /// Order of the tiles of the matrix.
  static constexpr int kOrder = kTileOrder;
  static constexpr int kSide = kOrder / kSmall;
  /// A group of warps works on one tile at a time: each warp has 16 rows, and one more warp copies.
  static constexpr int kWarps = kSide, kGroups = kGroupCount, kStages = kStageCount;
  /// Complex blocks take twice the registers, so fewer warps are used.
  static constexpr int kThreads = 32 * kBlockWarps;
  /// Columns of tiles in shared memory are at a distance that avoids bank conflicts of a warp's
  /// reads.
  static constexpr int kPitch = kTilePitch, kStoredPitch = kOperandPitch;
};
template <class T>
using ShapeOf = decltype(only(ShapeList<>{}
#define CHOL_INSTANCE(precision, ...) +list_if<is_of<T>(#precision), Shape<__VA_ARGS__>>()
#include "native/persistent/instances.def"
                              ));

template <class T>
struct Config : ShapeOf<T> {
  using ShapeOf<T>::kOrder, ShapeOf<T>::kPitch, ShapeOf<T>::kStoredPitch;
  using ShapeOf<T>::kWarps, ShapeOf<T>::kGroups, ShapeOf<T>::kStages;
  static constexpr bool kComplex = Traits<T>::is_complex;
  static constexpr int kParts = kComplex ? 2 : 1;
  /// Whether warps multiply square parts of a tile and then exchange them for rows.
  static constexpr bool kExchanges = !kComplex;

  static constexpr int kOperandBytes = kSmall * kStoredPitch * int(sizeof(T));
  static constexpr int kDiagonalBytes = kSmall * kPitch * int(sizeof(Doubled<T>));
  static constexpr int kStageBytes = kOperandBytes + kDiagonalBytes;
  static constexpr int kExchangeBytes = kExchanges ? kWarps * 2 * kSmall * kSmall * 8 : 0;
  static constexpr int kGroupBytes = kStages * kStageBytes + kExchangeBytes;
  static constexpr int kTile = kOrder * kPitch;  ///< elements of a tile of the chain
  static constexpr int64_t kScratchTile = int64_t(kOrder) * kOrder;
};

/// Shared memory in front of the tiles, for barriers.
inline constexpr int kBarrierBytes = 1024;

template <class T>
constexpr int shared_bytes() {
  using C = Config<T>;
  const int workers = C::kGroups * C::kGroupBytes;
  const int chain = int(sizeof(Doubled<T>)) * (6 * C::kTile + (2 * C::kSide + 1) * kSmall * kSmall);
  return kBarrierBytes + larger(workers, chain);
}

}  // namespace chol::cuda::persistent
