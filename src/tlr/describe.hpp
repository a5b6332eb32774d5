// Statistics of a matrix or factor, and copies of all or one of its tiles.
#pragma once

#include <memory>

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/control.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Sets all members except stats.size.
template <class T>
void describe(const Matrix<T>& A, chol_tlr_stats_t& stats);

template <class T>
TileCounts count_tiles(const Matrix<T>& A);

/// A tiles by tiles matrix, column-major: ranks below the diagonal, -1 on it.
template <class T>
void write_ranks(const Matrix<T>& A, int64_t* ranks);

template <class T>
std::unique_ptr<Matrix<T>> copy_of(backend::TileOps<T>& ops, const Matrix<T>& A);

/// Tile (i, j) as a dense block, in any memory to which the operations can copy.
template <class T>
void expand_tile(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t i, int64_t j, T* block,
                 int64_t ldb);

/// The inverted blocks of a factor's diagonal tiles.
template <class T>
void invert_diagonal(backend::TileOps<T>& ops, Matrix<T>& A);

}  // namespace chol::tlr
