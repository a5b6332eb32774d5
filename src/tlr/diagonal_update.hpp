// Updates of diagonal tiles: A_ii minus the sum over columns j of L_ij D_j L_ij^H.
#pragma once

#include "backend/tile_ops.hpp"
#include "tlr/control.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Updates the lower triangle of tile k by the columns [from, to) before it.
template <class T>
void update_diagonal(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, int64_t from, int64_t to,
                     Control& control);

/// Updates both triangles of all tiles after k by column k.
template <class T>
void update_diagonals_after(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, Control& control);

}  // namespace chol::tlr
