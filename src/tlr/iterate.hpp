// Iterations with products and solves: the norm of an error, and conjugate gradients.
#pragma once

#include <functional>

#include "backend/tile_ops.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// y := A x for a vector.
template <class T>
using Apply = std::function<void(const T* x, T* y)>;

/// ||original - other||_2 of Hermitian matrices of order n by power iteration.
template <class T>
double norm_of_difference(backend::TileOps<T>& ops, int64_t n, const Apply<T>& original,
                          const Apply<T>& other, int iterations);

/// Solves A x = b by conjugate gradients with the preconditioner `factor`. Returns the number of
/// iterations; negative if it did not converge.
/// @param residuals most + 1 elements or nullptr
template <class T>
int conjugate_gradients(backend::TileOps<T>& ops, const Matrix<T>& A, const Matrix<T>& factor,
                        const T* b, T* x, double tolerance, int most, double* residuals);

}  // namespace chol::tlr
