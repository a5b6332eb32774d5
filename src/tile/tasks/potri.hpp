// The inverse of one matrix from its factor on several threads, in place: for each block column
// first all rows are packed, then all tiles are updated.
#pragma once

#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"

namespace chol::tile {

class TileInverse {
 public:
  /// Matrix of order n in tiles of nb rows and columns; nb is rounded up to a multiple that the
  /// operations require, 0 means n.
  TileInverse(backend::InverseOps& ops, int64_t n, int nb);

  /// Allocates the operations' memory from an arena (a null one counts).
  void carve(Arena& arena) const { ops_.carve(arena, nb_); }

  /// Overwrites the factor by the inverse. The imaginary part of the diagonal is zero up to
  /// rounding.
  void run(int threads) const;

 private:
  void step(int64_t block, int threads) const;
  void update(int64_t block, int64_t task) const;
  backend::Range range(int64_t tile) const {
    return {tile * nb_, tile + 1 < tiles_ ? (tile + 1) * nb_ : n_};
  }

  backend::InverseOps& ops_;
  int64_t n_, nb_, tiles_;
};

}  // namespace chol::tile
