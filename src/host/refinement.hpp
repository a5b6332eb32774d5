// Refinement in two precisions on the cores.
#pragma once

#include <memory>

#include "backend/refinement.hpp"
#include "backend/tile_ops.hpp"
#include "base/arena.hpp"

namespace chol::host {

/// @param arena where its memory for matrices of order n and up to `columns` columns is taken; a
/// null one counts.
template <class T>
std::unique_ptr<backend::Refinement<T>> make_refinement(
    std::unique_ptr<backend::TileOps<T>> operations, int64_t n, Arena& arena);

}  // namespace chol::host
