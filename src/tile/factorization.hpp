// Common part of the factorizations of both distributions.
#pragma once

#include "tile/factor_panel.hpp"
#include "tile/peer_copy.hpp"
#include "tile/plane_groups.hpp"
#include "tile/potrf.hpp"

namespace chol::tile {

/// The panels, their copies on the devices and the events that order them.
template <class T>
class Factorization {
 public:
  Factorization(const Devices<T>& devices, const CyclicMatrix<T>& A, PotrfWorkspace<T>& work)
      : devices_(devices),
        A_(A),
        over_(A.over),
        ring_(work.ring),
        groups_(devices, A.over, work.group()),
        panels_(PanelRing<T>::kSlots) {
    for (Panel& panel : panels_) panel.arrived.resize(devices.size());
    if (groups_.is_on()) groups_.begin(work.diagonal.data());
  }

 protected:
  struct Panel {
    int owner = 0;
    Event finished;
    std::vector<Event> arrived;  ///< at each other device
  };

  PanelOps<T>& ops(int device) const { return *devices_[static_cast<size_t>(device)]; }
  int count() const { return static_cast<int>(devices_.size()); }
  Panel& panel(int64_t k) { return panels_[static_cast<size_t>(k % PanelRing<T>::kSlots)]; }
  bool has_after(int device, int64_t block) const {
    return over_.next_of(device, block + 1) < over_.blocks();
  }
  /// Calls body(block) for the blocks from `first` on that the device has.
  template <class Body>
  void for_each_block(int device, int64_t first, Body&& body) const {
    for (int64_t J = over_.next_of(device, first); J < over_.blocks(); J += over_.devices) body(J);
  }

  /// Broadcasts panel k, stored in `from`, to every device for which `wants` is true.
  template <class Wants>
  void publish(int64_t k, const View<T>& from, int64_t rows, int64_t columns, Wants&& wants) {
    Panel& given = panel(k);
    for (int d = 0; d < count(); ++d) {
      if (d == given.owner || !wants(d)) continue;
      ops(d).wait(Queue::receive, given.finished);
      ring_.claim(ops(d), Queue::receive, d, k);
      ring_.claimed(d, k);
      copy_between<T>(devices_, d, Queue::receive, {d, ring_.memory(d, k)}, {given.owner, from},
                      rows, columns);
      given.arrived[static_cast<size_t>(d)] = ops(d).record(Queue::receive);
    }
  }
  /// Makes `queue` of the device wait for the arrival of panel k.
  void await(int device, Queue queue, int64_t k) {
    const Panel& wanted = panel(k);
    if (device != wanted.owner)
      ops(device).wait(queue, wanted.arrived[static_cast<size_t>(device)]);
    else if (queue != Queue::panel)
      ops(device).wait(queue, wanted.finished);
  }

  const Devices<T>& devices_;
  const CyclicMatrix<T>& A_;
  const Distribution& over_;
  PanelRing<T>& ring_;
  PlaneGroups<T> groups_;
  std::vector<Panel> panels_;
};

}  // namespace chol::tile
