// Inverses of several block rows of a factor as one block, which reduces the steps of a solve.
#pragma once

#include <vector>

#include "backend/tile_ops.hpp"

namespace chol::tlr {

/// The inverses of L's diagonal blocks of `stage` block rows each, dense, with zeros above the
/// diagonal.
template <class T>
std::vector<Buffer<T>> stage_inverses(backend::TileOps<T>& ops, const backend::LowerTiles<T>& L,
                                      int64_t stage);

}  // namespace chol::tlr
