// Copies between a whole matrix and one over several devices: the triangle, and nothing beside it.
#pragma once

#include "tile/panel_ring.hpp"

namespace chol::tile {

/// @param whole the lower view of the matrix, on the host or any device.
template <class T>
void scatter(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole);
template <class T>
void gather(const Devices<T>& devices, const CyclicMatrix<T>& A, const View<T>& whole);

/// Copies the diagonal to `diagonal` in host memory.
template <class T>
void read_diagonal(const Devices<T>& devices, const CyclicMatrix<T>& A, T* diagonal);

}  // namespace chol::tile
