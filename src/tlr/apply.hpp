// Products and triangular solves with tiles.
#pragma once

#include "backend/tile_ops.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Y := A X of a matrix; Y := P^T L L^H P X or P^T L D L^H P X of a factor.
template <class T>
void multiply(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, const T* X, int64_t ldx,
              T* Y, int64_t ldy);

/// Y := P^T L X or L^H P X of a factor.
template <class T>
void multiply_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                   const T* X, int64_t ldx, T* Y, int64_t ldy);

/// B := inverse(A) B of a factor of A.
template <class T>
void solve(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, T* B, int64_t ldb);

/// B := inverse(L) P B or P^T inverse(L^H) B of a factor.
template <class T>
void solve_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs, T* B,
                int64_t ldb);

/// log |det A| of a factor of A, and the sign of the determinant.
template <class T>
double logdet(backend::TileOps<T>& ops, const Matrix<T>& A, int* sign);

}  // namespace chol::tlr
