// Groups of panels whose products are subtracted from all columns after the group at once, by
// residues: the depth of the product amortizes the reconstruction. Within a group products are
// native.
#pragma once

#include "backend/plane_ops.hpp"
#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
class PlaneGroups {
 public:
  /// @param columns of a group; 0: no groups, each panel is subtracted separately.
  PlaneGroups(const Devices<T>& devices, const Distribution& over, int64_t columns)
      : devices_(devices),
        over_(over),
        panels_(std::max<int64_t>(columns / over.nb, 1)),
        is_on_(columns > 0) {
    if (is_on_) slots_.resize(devices.size() * kSlots);
  }

  bool is_on() const { return is_on_; }
  /// The remainder is computed natively.
  void give_up() {
    is_on_ = false;
    panels_ = 1;
  }
  /// Number of panels of a group.
  int64_t panels() const { return panels_; }
  int64_t first(int64_t k) const { return k / panels_ * panels_; }
  int64_t last(int64_t k) const { return std::min(first(k) + panels_, over_.blocks()) - 1; }
  bool is_last(int64_t k) const { return k == last(k); }
  /// Whether columns follow the group of panel k.
  bool has_behind(int64_t k) const { return last(k) + 1 < over_.blocks(); }

  void begin(const T* diagonal) {
    for (PanelOps<T>* ops : devices_) ops->planes()->begin(Queue::receive, diagonal);
  }
  /// Converts panel k to planes on the device's receive queue, which has the panel.
  /// @param panel from its diagonal block on.
  /// @return event after the last read of the panel.
  Event quantize(int device, int64_t k, const View<T>& panel) {
    PanelOps<T>& ops = at(device);
    Slot& slot = of(device, k);
    if (k == first(k)) {
      for (const Event& reader : slot.readers) ops.wait(Queue::receive, reader);
      slot.readers.clear();
    }
    const int64_t row = over_.end(last(k));
    ops.planes()->quantize(Queue::receive, number(k), panel.at(row - over_.start(k), 0), row,
                           over_.start(k) - over_.start(first(k)), over_.width(k));
    slot.quantized = ops.record(Queue::receive);
    slot.panel = k;
    return slot.quantized;
  }
  /// Waits for the group that ends with panel k, whose planes are on several devices. Returns
  /// whether it is within the bound.
  bool is_exact(int64_t k) {
    bool all = true;
    for (int d = 0; d < static_cast<int>(devices_.size()); ++d) {
      if (of(d, k).panel != k) continue;
      at(d).wait_on_host(of(d, k).quantized);
      all = all && at(d).planes()->is_exact();
    }
    return all;
  }
  void await(int device, Queue queue, int64_t k) {
    at(device).wait(queue, of(device, k).quantized);
  }
  /// Subtracts the products with the group of panel k from a block whose first element is (row,
  /// column).
  void update(int device, Queue queue, int64_t k, const View<T>& C, int64_t row, int64_t column,
              int64_t rows, int64_t columns) {
    at(device).planes()->update(queue, number(k), C, row, column, rows, columns);
  }
  /// Records that the operations in the queue read the planes.
  void reads(int device, Queue queue, int64_t k) {
    of(device, k).readers.push_back(at(device).record(queue));
  }

 private:
  static constexpr int kSlots = backend::PlaneOps<T>::kSlots;
  struct Slot {
    Event quantized;
    int64_t panel = -1;  ///< the last panel converted
    std::vector<Event> readers;
  };
  PanelOps<T>& at(int device) const { return *devices_[static_cast<size_t>(device)]; }
  int number(int64_t k) const { return static_cast<int>(k / panels_ % kSlots); }
  Slot& of(int device, int64_t k) {
    return slots_[static_cast<size_t>(device) * kSlots + static_cast<size_t>(number(k))];
  }

  const Devices<T>& devices_;
  const Distribution& over_;
  int64_t panels_;
  bool is_on_;
  std::vector<Slot> slots_;
};

}  // namespace chol::tile
