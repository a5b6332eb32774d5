// Updates of diagonal tiles: A_ii minus the sum over columns j of L_ij D_j L_ij^H.
#pragma once

#include "backend/tile_ops.hpp"
#include "tlr/control.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Of tile k by the columns [from, to) before it, in the lower triangle.
template <class T>
void update_diagonal(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, int64_t from, int64_t to,
                     Control& control);

/// Of all tiles after k by column k, both triangles.
template <class T>
void update_diagonals_after(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, Control& control);

}  // namespace chol::tlr
