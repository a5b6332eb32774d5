// Products and triangular solves with tiles.
#pragma once

#include "backend/tile_ops.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Y := A X of a matrix, L L^H X of a factor.
template <class T>
void multiply(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, const T* X, int64_t ldx,
              T* Y, int64_t ldy);

/// Y := L X or L^H X of a factor.
template <class T>
void multiply_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                   const T* X, int64_t ldx, T* Y, int64_t ldy);

/// B := inverse(L) B or inverse(L^H) B of a factor.
template <class T>
void solve_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs, T* B,
                int64_t ldb);

/// 2 times the sum of log l_ii.
template <class T>
double logdet(backend::TileOps<T>& ops, const Matrix<T>& A);

}  // namespace chol::tlr
