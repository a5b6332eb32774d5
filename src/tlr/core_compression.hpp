// Compression from samples of both sides by generalized Nystrom approximation: the sums behind a
// tile's samples do not wait for its basis, and no tall matrix is orthogonalized. A tile whose rank
// was expected, and for which the samples of two rounds are too few, is projected on a basis of
// these and more of one side.
#pragma once

#include "tlr/compress.hpp"

namespace chol::tlr {

template <class T>
class CoreCompression {
 public:
  /// @param rule of which the tolerance may change until begin_cores()
  CoreCompression(backend::TileOps<T>& ops, Operators<T>& operators, const Compression& rule,
                  Control& control);
  /// Samples the tiles, as far as the operators know them.
  void begin_samples();
  /// After the operators know the whole tiles: the rest of the samples, and their cores on the way.
  void begin_cores();
  /// Waits for them, samples again or projects what needs it, and writes tiles: see compress().
  void finish(Tile<T>* const* tiles, TileError* errors);

 private:
  /// A tile on its way.
  struct Sketch {
    int64_t rows, columns, most;  ///< most samples
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
  std::vector<typename Operators<T>::Wanted> round_;  ///< what is sampled
  std::vector<backend::CoreFactor<T>> factors_;       ///< of the round
};

}  // namespace chol::tlr
