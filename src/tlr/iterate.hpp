// Iterations with products and solves: the norm of an error, conjugate gradients.
#pragma once

#include <functional>

#include "backend/tile_ops.hpp"
#include "tlr/kernel.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// y := A x for a vector.
template <class T>
using Apply = std::function<Status(const T* x, T* y)>;

/// ||original - other||_2 of Hermitian matrices of order n by power iteration.
template <class T>
Status norm_of_difference(backend::TileOps<T>& ops, int64_t n, const Apply<T>& original,
                          const Apply<T>& other, int iterations, double* norm2);

/// y := the covariance of points times x.
template <class T>
void multiply_kernel(backend::TileOps<T>& ops, const CovarianceKernel& kernel, int64_t n,
                     const T* x, T* y);

/// Solves A x = b by conjugate gradients with the preconditioner `factor`.
/// @param iterations negative when it did not converge
/// @param residuals most + 1 elements or nullptr
template <class T>
Status conjugate_gradients(backend::TileOps<T>& ops, const Matrix<T>& A, const Matrix<T>& factor,
                           const T* b, T* x, double tolerance, int most, int* iterations,
                           double* residuals);

}  // namespace chol::tlr
