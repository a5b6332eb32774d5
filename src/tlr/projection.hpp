// Low rank approximation of many tiles at once by adaptive randomized range finding (Halko,
// Martinsson, Tropp 2011, algorithm 4.2, in blocks) with one projection and a rank-revealing
// truncation.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

/// State of the compression of a tile.
template <class T>
struct ProjectedSketch {
  int64_t index;                ///< index in the operators
  int64_t rows, columns, most;  ///< upper limit of the number of samples
  int64_t samples = 0;
  Buffer<T> Y{};  ///< samples; a basis after orthonormalization, unless keeps_samples()
  bool is_dense = false, is_done = false;
  double residual = 0;  ///< Frobenius norm of the part outside the basis
  Buffer<T> Q{};        ///< the basis, if keeps_samples()
  int64_t rank = 0;     ///< of the basis
};

/// Compresses tiles, which may have samples already. Tiles of high rank are not compressed and are
/// marked as dense.
template <class T>
void project(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
             Control& control, std::vector<ProjectedSketch<T>>& sketches, Tile<T>* const* tiles,
             TileError* errors);

}  // namespace chol::tlr
