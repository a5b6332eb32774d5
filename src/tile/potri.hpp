// The inverse over several devices, in place of the factor: first that of the factor, then its
// product with its adjoint (LAPACK's xTRTRI and xLAUUM by block columns). In both, each step takes
// one block column to all devices, which then work on the block columns that they have.
#pragma once

#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
struct PotriWorkspace {
  PanelRing<T> ring;

  /// Takes what one more device needs.
  void carve(Arena& arena, PanelOps<T>& ops, const Distribution& over) {
    const int64_t columns = std::min(over.nb, over.n);
    ring.carve(arena, over.n, columns, false);
    ops.carve_inversion(arena, columns);
  }
};

/// Queues the inversion of the matrix whose factor A is. No diagonal element of A may be zero.
template <class T>
void invert(const Devices<T>& devices, const CyclicMatrix<T>& A, PotriWorkspace<T>& work);

}  // namespace chol::tile
