// The factor of one matrix over several devices: right-looking by block columns with look-ahead.
// The owner of a block column factors it as a panel and hands it to all; each device then updates
// the block columns that it has. The next panel is updated and factored first, on a queue of its
// own, so that it arrives while products with the one before go on. The schedule is static (the
// owner map of ScaLAPACK's 1D distribution; look-ahead as in Kurzak, Buttari and Dongarra, 2008).
#pragma once

#include "backend/plane_ops.hpp"
#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
struct PotrfWorkspace {
  PanelRing<T> ring;
  /// Of the matrix, set by the caller when group() is not 0.
  std::vector<T> diagonal;

  /// Takes what one more device needs. @param rows of the panels.
  /// @param by_planes whether products may be formed by residues.
  void carve(Arena& arena, PanelOps<T>& ops, const Distribution& over, int64_t rows, bool upper,
             bool by_planes = false) {
    const int64_t columns = std::min(over.nb, over.n);
    ring.carve(arena, rows, columns, upper);
    ops.carve(arena, rows, std::min(columns, ops.panel_columns()));
    backend::PlaneOps<T>* const planes = by_planes ? ops.planes() : nullptr;
    const int64_t group = planes ? planes->group_columns(over.n, over.nb) : 0;
    if (group > 0) planes->carve(arena, over.n, over.nb, group);
    groups_.push_back(group);
  }
  /// Columns of a group of panels, which all devices agree on; 0: products are native.
  int64_t group() const {
    const int64_t group = groups_.empty() ? 0 : groups_.front();
    const bool agreed =
        std::count(groups_.begin(), groups_.end(), group) == static_cast<int64_t>(groups_.size());
    return agreed ? group : 0;
  }

 private:
  std::vector<int64_t> groups_;  ///< of each device
};

/// Where block columns come from that are not in the devices' memory from the start.
template <class T>
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  /// What is queued next at the owner of block column J touches it.
  virtual void need(Queue queue, int64_t J) = 0;
  /// Panels of the columns to the left, which are factored.
  virtual int64_t panels_before() const = 0;
  virtual int64_t columns_of(int64_t panel) const = 0;
  /// Queues the copy of one, down from the first row of A, on the device's queue of loads.
  virtual void load(int device, int64_t panel, const View<T>& to) = 0;
  /// Up to `event` block column k of the factor is finished.
  virtual void finished(int64_t k, const Event& event) = 0;
  /// Until `event` a device reads it in place; after all these events it may be overwritten.
  virtual void read(int64_t k, const Event& event) = 0;
};

/// Queues the factorization of A in place. What comes after a bad leading minor is unspecified.
/// @param source of block columns, or nullptr.
template <class T>
void factor(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work,
            ColumnSource<T>* source = nullptr);

/// The first bad leading minor that any device found, once all have finished, or 0.
template <class T>
int first_bad_minor(const Devices<T>& devices);

}  // namespace chol::tile
