// Low rank approximation of many tiles at once by adaptive randomized range finding (Halko,
// Martinsson, Tropp 2011, algorithm 4.2, in blocks) with one projection and a rank-revealing
// truncation.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

/// A tile on its way.
template <class T>
struct ProjectedSketch {
  int64_t index;                ///< of the operators
  int64_t rows, columns, most;  ///< most samples
  int64_t samples = 0;
  Buffer<T> Y{};  ///< samples; from their orthonormalization on a basis, unless keeps_samples()
  bool is_dense = false, is_done = false;
  double residual = 0;  ///< what was not found, in the Frobenius norm
  Buffer<T> Q{};        ///< where keeps_samples(), the basis
  int64_t rank = 0;     ///< of the basis
};

/// Compresses tiles, of which samples may be known already. Those of high rank are left, and
/// marked as dense.
template <class T>
void project(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
             Control& control, std::vector<ProjectedSketch<T>>& sketches, Tile<T>* const* tiles,
             TileError* errors);

}  // namespace chol::tlr
