// The factor of one matrix over several devices: right-looking by block columns with look-ahead.
// The owner of a block column factors it as a panel and broadcasts it; each device then updates its
// own block columns. The next panel is updated and factored first, on a separate queue, so that it
// arrives during the products with the previous one. The schedule is static (the owner map of
// ScaLAPACK's 1D distribution; look-ahead as in Kurzak, Buttari and Dongarra, 2008).
#pragma once

#include "backend/plane_ops.hpp"
#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
struct PotrfWorkspace {
  PanelRing<T> ring;
  /// Diagonal of the matrix, set by the caller if group() is not 0.
  std::vector<T> diagonal;

  /// Allocates the memory of one more device. @param rows of the panels.
  /// @param by_planes whether products may use residues.
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
  /// Columns of a group of panels, the same on all devices; 0: products are native.
  int64_t group() const {
    const int64_t group = groups_.empty() ? 0 : groups_.front();
    const bool agreed =
        std::count(groups_.begin(), groups_.end(), group) == static_cast<int64_t>(groups_.size());
    return agreed ? group : 0;
  }

 private:
  std::vector<int64_t> groups_;  ///< for each device
};

/// Source of block columns that are not in the devices' memory on entry.
template <class T>
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  /// The next operation queued at the owner of block column J accesses it.
  virtual void need(Queue queue, int64_t J) = 0;
  /// Number of factored panels of the columns to the left.
  virtual int64_t panels_before() const = 0;
  virtual int64_t columns_of(int64_t panel) const = 0;
  /// Queues the copy of one of them, from the first row of A on, on the device's load queue.
  virtual void load(int device, int64_t panel, const View<T>& to) = 0;
  /// Block column k of the factor is finished after `event`.
  virtual void finished(int64_t k, const Event& event) = 0;
  /// A device reads the block column in place until `event`; it may be overwritten after all these
  /// events.
  virtual void read(int64_t k, const Event& event) = 0;
};

/// Queues the factorization of A in place. Columns after a bad leading minor are unspecified.
/// @param source of block columns, or nullptr.
template <class T>
void factor(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work,
            ColumnSource<T>* source = nullptr);

/// The first bad leading minor found by any device, after all have finished, or 0.
template <class T>
int first_bad_minor(const Devices<T>& devices);

}  // namespace chol::tile
