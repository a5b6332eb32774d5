// Storage of tiles that are not compressed.
#pragma once

#include <utility>
#include <vector>

#include "tlr/compress.hpp"

namespace chol::tlr {

/// Forms the tiles whose sketches are marked dense, and stores them.
/// @tparam Sketch has members rows, columns and is_dense
template <class T, class Sketch>
void store_dense(backend::TileOps<T>& ops, Operators<T>& operators, Control& control,
                 const std::vector<Sketch>& sketches, Tile<T>* const* tiles) {
  control.begin(Phase::dense_update);
  backend::ProductSteps<T> steps;
  std::vector<std::pair<size_t, Buffer<T>>> dense;
  for (size_t i = 0; i < sketches.size(); ++i) {
    if (!sketches[i].is_dense) continue;
    Buffer<T> D = ops.buffer(sketches[i].rows * sketches[i].columns);
    operators.expand(static_cast<int64_t>(i), D.get(), steps);
    dense.emplace_back(i, std::move(D));
  }
  ops.multiply(steps);
  control.add_flops(steps.flops());
  for (auto& [i, D] : dense) {
    tiles[i]->dense = true;
    tiles[i]->projected = false;
    tiles[i]->rank = 0;
    tiles[i]->U = std::move(D);
    tiles[i]->V = {};
  }
}

}  // namespace chol::tlr
