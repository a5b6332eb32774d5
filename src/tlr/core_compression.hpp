// Compression from samples of both sides by generalized Nystrom approximation. The sums of a tile's
// samples do not depend on its basis, and no tall matrix is orthogonalized. If the rank of a tile
// was predicted and the samples of two rounds are insufficient, the tile is projected on a basis of
// these and further samples of one side.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

template <class T>
class CoreCompression {
 public:
  /// @param rule its tolerance may change until begin_cores()
  CoreCompression(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                  Control& control);
  /// Samples the tiles as far as the operators have their terms.
  void begin_samples();
  /// Adds the remaining terms to the samples and starts the factorization of the cores. The
  /// operators must have all terms of the tiles.
  void begin_cores();
  /// Waits for the cores, samples again or projects where necessary, and writes tiles: see
  /// compress().
  void finish(Tile<T>* const* tiles, TileError* errors);

 private:
  /// State of the compression of a tile.
  struct Sketch {
    int64_t rows, columns, most;  ///< upper limit of the number of samples
    int64_t samples = 0, left_samples = 0;
    int rounds = 0;
    bool is_dense = false, is_done = false, is_deferred = false, is_projected = false;
    Buffer<T> Y, X;  ///< M times the samples, M^H times the left ones
    Buffer<T> core;  ///< S, scratch, T, Q
    backend::CoreFactor<T> factor{};
  };
  void make_room(Sketch& sketch, int64_t wanted);
  void end_cores();
  void store_low_ranks(Tile<T>* const* tiles, TileError* errors);
  void project_rest(Tile<T>* const* tiles, TileError* errors);

  backend::TileOps<T>& ops_;
  Operators<T>& operators_;
  const Compression& rule_;
  Control& control_;
  std::vector<Sketch> sketches_;
  std::vector<typename Operators<T>::Wanted> round_;  ///< tiles sampled in this round
  std::vector<backend::CoreFactor<T>> factors_;       ///< of this round
};

}  // namespace chol::tlr
