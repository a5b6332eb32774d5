// The inverse of one matrix from its factor on several threads, in place: a block column after the
// other, whose rows are packed first and whose tiles are updated then.
#pragma once

#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"

namespace chol::tile {

class TileInverse {
 public:
  /// Of order n in tiles of nb rows and columns; nb is rounded up to what the operations need, 0 is
  /// the order.
  TileInverse(backend::InverseOps& ops, int64_t n, int nb);

  /// Takes the operations' memory from an arena (a null one counts).
  void carve(Arena& arena) const { ops_.carve(arena, nb_); }

  /// Turns the factor into the inverse, whose diagonal is real to rounding only.
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
