// The inverse of one matrix from its factor on several threads, in place: a block column after the
// other (kernels/within/potri.hpp), whose strips are packed first and whose tiles are updated then.
#pragma once

#include <cstdint>

#include "base/arena.hpp"
#include "host/kernels/kernel_table.hpp"

namespace chol::host {

class TileInverse {
 public:
  /// Tiles of nb rows and columns; nb is rounded to what the kernels' strips need, 0 is the order.
  TileInverse(const Kernels& kernels, size_t element_bytes, size_t real_bytes, int64_t n, int nb);

  /// Takes strips from an arena (a null one counts): about n + nb rows of nb elements.
  void carve(Arena& arena);

  /// Turns the factor in M into the inverse, whose diagonal is real to rounding only.
  void run(const PanelMatrix& M, int threads) const;

 private:
  void step(const PanelMatrix& M, int64_t block, int threads) const;
  void update(const PanelMatrix& M, int64_t block, int64_t task) const;
  int64_t start(int64_t tile) const { return tile * nb_; }
  int64_t end(int64_t tile) const { return tile + 1 < tiles_ ? start(tile + 1) : n_; }

  const Kernels& kernels_;
  size_t element_bytes_, real_bytes_;
  int64_t n_, nb_, tiles_;
  PanelStrips factor_{}, strips_{};
};

}  // namespace chol::host
