// The inverse over several devices, in place of the factor: first the inverse of the factor, then
// its product with its adjoint (LAPACK's xTRTRI and xLAUUM by block columns). In both, each step
// broadcasts one block column, and each device then updates its own block columns.
#pragma once

#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
struct PotriWorkspace {
  PanelRing<T> ring;

  /// Allocates the memory of one more device.
  void carve(Arena& arena, PanelOps<T>& ops, const Distribution& over) {
    const int64_t columns = std::min(over.nb, over.n);
    ring.carve(arena, over.n, columns, false);
    ops.carve_inversion(arena, columns);
  }
};

/// Queues the inversion of the matrix with the factor A. No diagonal element of A may be zero.
template <class T>
void invert(const Devices<T>& devices, const CyclicMatrix<T>& A, PotriWorkspace<T>& work);

}  // namespace chol::tile
