// The factor of one matrix in host memory over several devices. Block columns go to their owners
// once, where they stay until they are finished, and return while others are worked on. What the
// devices' memory does not hold is factored by superpanels from left to right (left-looking): each
// takes the products with all columns to its left, which come from the host once more. With M
// elements of memory that moves about n^3 / (3 w) elements for superpanels of w columns.
#pragma once

#include "tile/potrf.hpp"

namespace chol::tile {

/// How a matrix in host memory is divided.
struct HostPlan {
  int64_t nb = 0;      ///< columns of a block
  int64_t blocks = 0;  ///< of a superpanel; all of them where the devices' memory holds the matrix

  explicit operator bool() const { return blocks > 0; }
};

template <class T>
struct HostWorkspace {
  PotrfWorkspace<T> factor;
  std::vector<T*> columns;  ///< of each device

  /// Takes what one more device needs.
  void carve(Arena& arena, PanelOps<T>& ops, int devices, int64_t n, const HostPlan& plan,
             bool upper);
};

/// The plan whose workspace fits into so many bytes a device, or none.
template <class T>
HostPlan plan_host_matrix(const Devices<T>& devices, const std::vector<size_t>& bytes, int64_t n,
                          bool upper);

/// Factors and waits. Returns info.
/// @param whole the lower view of the matrix.
/// @param moved elements that have gone to the devices and back.
template <class T>
int factor_host_matrix(const Devices<T>& devices, const View<T>& whole, int64_t n,
                       const HostPlan& plan, HostWorkspace<T>& work, int64_t* moved);

}  // namespace chol::tile
