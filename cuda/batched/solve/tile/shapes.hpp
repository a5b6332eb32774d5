// Shapes of the solves by tiles of a triangle in shared memory, and those that are built
// (solve/tile/instances.def), in the order in which they are tried.
#pragma once

#include "common/instances.hpp"

namespace chol::cuda {

/// solve/tile/kernel.cuh: orders up to 8 kTiles, sets of right-hand sides a warp has at a time (of
/// 8 in double precision, 4 in the others), warps a matrix, matrices a block, blocks a
/// multiprocessor. A block has one matrix or one warp a matrix.
template <int kTileCount, int kSetCount, int kWarpCount, int kMatrixCount, int kBlockCount>
struct SolveShape {
  static constexpr int kTiles = kTileCount, kSets = kSetCount, kWarps = kWarpCount;
  static constexpr int kMatrices = kMatrixCount, kBlocks = kBlockCount;
  static_assert(kWarps == 1 || kMatrices == 1);
};

/// The kernels for one right-hand side, most of which other families serve, or for several.
template <class T, bool kOne>
struct TileSolveListOf {
  enum class Rhs { one, many };
  using Type = decltype(ShapeList<>{}
#define CHOL_INSTANCE(precision, rhs, ...) \
  +list_if<is_of<T>(#precision) && (Rhs::rhs == Rhs::one) == kOne, SolveShape<__VA_ARGS__>>()
#include "batched/solve/tile/instances.def"
  );
};
template <class T, bool kOne>
using TileSolveList = typename TileSolveListOf<T, kOne>::Type;

}  // namespace chol::cuda
