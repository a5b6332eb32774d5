// Memory for panels that come from other devices, used again in turn.
#pragma once

#include <vector>

#include "tile/cyclic_matrix.hpp"

namespace chol::tile {

using backend::Event;
using backend::PanelOps;
using backend::Queue;

template <class T>
using Devices = std::vector<PanelOps<T>*>;

/// The panels of successive steps go round `slots` of each device.
template <class T>
class PanelRing {
 public:
  /// One in use by the products, one by the panel ahead, one under way.
  static constexpr int kSlots = 3;
  /// Columns behind a panel that lie in the same memory.
  static constexpr int64_t kBehind = 64;

  /// Takes the slots of one more device; a null arena counts. @param swapped as View.
  void carve(Arena& arena, int64_t rows, int64_t columns, bool swapped) {
    constexpr int64_t kLine = 128 / sizeof(T) > 0 ? 128 / sizeof(T) : 1;
    const int64_t length = swapped ? columns : rows, lines = swapped ? rows : columns;
    const int64_t ld = (length + kLine - 1) / kLine * kLine;
    const int64_t behind = swapped ? 1 : kBehind;
    for (int s = 0; s < kSlots; ++s)
      slots_.push_back(
          {{arena.take<T>(static_cast<size_t>(ld * (lines + behind))), ld, swapped}, {}});
  }

  const View<T>& memory(int device, int64_t step) { return slot(device, step).memory; }
  /// `queue` waits for all reads of the panel that was there before.
  void claim(PanelOps<T>& ops, Queue queue, int device, int64_t step) {
    for (const Event& reader : slot(device, step).readers) ops.wait(queue, reader);
  }
  /// All that claimed it have done so: what is added from here on reads the new panel.
  void claimed(int device, int64_t step) { slot(device, step).readers.clear(); }
  /// The panel is read until `read`.
  void reads(int device, int64_t step, const Event& read) {
    slot(device, step).readers.push_back(read);
  }

 private:
  struct Slot {
    View<T> memory;
    std::vector<Event> readers;
  };
  Slot& slot(int device, int64_t step) {
    return slots_[static_cast<size_t>(device * kSlots + step % kSlots)];
  }
  std::vector<Slot> slots_;
};

}  // namespace chol::tile
