// The factor of one matrix in host memory over several devices. Each block column is transferred to
// its owner once, stays there until it is finished, and returns concurrently with the work on
// others. A matrix that exceeds the devices' memory is factored by superpanels from left to right
// (left-looking). Each superpanel is updated by all columns to its left, which are transferred from
// the host again. Its own columns are loaded as soon as the columns of the previous superpanel
// release their memory. Superpanels of w columns move n^2 + n^3 / (6 w) elements.
#pragma once

#include "tile/potrf.hpp"

namespace chol::tile {

/// Division of a matrix in host memory.
struct HostPlan {
  int64_t nb = 0;      ///< columns of a block
  int64_t blocks = 0;  ///< of a superpanel; all blocks if the matrix fits into the devices' memory
  size_t staging = 0;  ///< bytes of a pinned buffer; 0: direct copies
  bool is_kept_before_bad = false;  ///< see Staging::keep_bad_piece()
  bool by_planes = false;           ///< products may use residues; only for a whole matrix

  explicit operator bool() const { return blocks > 0; }
};

template <class T>
struct HostWorkspace {
  PotrfWorkspace<T> factor;
  std::vector<T*> columns;  ///< for each device

  /// Allocates the memory of one more device.
  void carve(Arena& arena, PanelOps<T>& ops, int devices, int64_t n, const HostPlan& plan,
             bool upper);
};

/// The plan whose workspace is at most this number of bytes a device, or none.
/// @param by_planes whether products may use residues.
template <class T>
HostPlan plan_host_matrix(const Devices<T>& devices, const std::vector<size_t>& bytes, int64_t n,
                          bool upper, bool by_planes = false);

struct HostProgress {
  int64_t moved = 0;  ///< elements transferred to the devices and back
  /// Number of columns of the factor written to the matrix through pinned buffers, also if the call
  /// fails: the other columns are unchanged.
  int64_t returned = 0;
};

/// Factors the matrix and waits for completion. Returns info.
/// @param whole the lower view of the matrix.
template <class T>
int factor_host_matrix(const Devices<T>& devices, const View<T>& whole, int64_t n,
                       const HostPlan& plan, HostWorkspace<T>& work, HostProgress* progress);

/// Lower bound for the elements that any schedule moves: the triangle in both directions, and n^3 /
/// (3 sqrt(M)) if the memory of one device, M elements, does not hold the matrix (Ballard, Demmel,
/// Holtz and Schwartz, 2010).
double least_traffic(int64_t n, const HostPlan& plan, double memory);

}  // namespace chol::tile
