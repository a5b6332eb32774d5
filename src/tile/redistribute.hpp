// Copies of the triangle between a whole matrix and one over several devices; other elements are
// not accessed.
#pragma once

#include "tile/staging.hpp"

namespace chol::tile {

/// @param whole the lower view of the matrix, on the host or any device.
template <class T>
void scatter(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole);
template <class T>
void gather(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole);

/// The same between a matrix in host memory and one for solves or inversion: without staging, full
/// diagonal blocks are copied, which takes fewer copies.
/// @param staging for pageable memory: the matrix is written when store_inverse() returns; or
/// nullptr.
template <class T>
void load_factor(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole,
                 Staging<T>* staging);
template <class T>
void store_inverse(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole,
                   Staging<T>* staging);

/// Copies the diagonal to `diagonal` in host memory.
template <class T>
void read_diagonal(const Devices<T>& devices, const CyclicMatrix<T>& A, T* diagonal);

}  // namespace chol::tile
