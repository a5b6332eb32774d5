// The factor of one matrix in host memory over several devices. Block columns go to their owners
// once, where they stay until they are finished, and return while others are worked on. What the
// devices' memory does not hold is factored by superpanels from left to right (left-looking): each
// takes the products with all columns to its left, which come from the host once more, while its
// own columns come as soon as those of the one before are through with their place. Superpanels of
// w columns move n^2 + n^3 / (6 w) elements.
#pragma once

#include "tile/potrf.hpp"

namespace chol::tile {

/// How a matrix in host memory is divided.
struct HostPlan {
  int64_t nb = 0;      ///< columns of a block
  int64_t blocks = 0;  ///< of a superpanel; all of them where the devices' memory holds the matrix
  size_t staging = 0;  ///< bytes of a pinned buffer; 0: copies go straight
  bool is_kept_before_bad = false;  ///< as Staging::keep_bad_piece()
  bool by_planes = false;           ///< products may be formed by residues; of a whole matrix only

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
/// @param by_planes whether products may be formed by residues.
template <class T>
HostPlan plan_host_matrix(const Devices<T>& devices, const std::vector<size_t>& bytes, int64_t n,
                          bool upper, bool by_planes = false);

struct HostProgress {
  int64_t moved = 0;  ///< elements that have gone to the devices and back
  /// Columns of the factor that have been written to the matrix by way of pinned buffers, also when
  /// the call fails: the others are as they were.
  int64_t returned = 0;
};

/// Factors and waits. Returns info.
/// @param whole the lower view of the matrix.
template <class T>
int factor_host_matrix(const Devices<T>& devices, const View<T>& whole, int64_t n,
                       const HostPlan& plan, HostWorkspace<T>& work, HostProgress* progress);

/// Elements that any schedule moves at least: the triangle there and back, and n^3 / (3 sqrt(M))
/// where one device's memory, of M elements, does not hold it all (Ballard, Demmel, Holtz and
/// Schwartz, 2010).
double least_traffic(int64_t n, const HostPlan& plan, double memory);

}  // namespace chol::tile
