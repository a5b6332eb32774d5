// The operations of tile low rank algorithms on the cores: each on one thread, many in parallel.
#pragma once

#include <memory>

#include "backend/backend.hpp"
#include "backend/tile_ops.hpp"

namespace chol::host {

/// @param backend the host backend, whose potrf factors diagonal tiles
template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, int threads);

}  // namespace chol::host
