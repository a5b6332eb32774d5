// Parameters of thread/tiled.cuh.
#pragma once

namespace chol::cuda {

/// Which tiles a step of a tiled factorization works on: those of the block column that it
/// finishes, those right of the one that it has finished, or those of the block row that it
/// finishes.
enum class Looking { left, right, top };

struct TiledKnobs {
  int tile;  ///< rows and columns
  Looking looking;
  bool unrolled;  ///< whether the loops over tiles are unrolled, too
  int threads;    ///< of a block
};
inline constexpr int kMostTile = 8;

/// The built instance, for any order.
inline constexpr TiledKnobs kStreamed{4, Looking::left, false, 64};

}  // namespace chol::cuda
