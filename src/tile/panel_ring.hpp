// Memory for panels received from other devices, reused cyclically.
#pragma once

#include <vector>

#include "tile/cyclic_matrix.hpp"

namespace chol::tile {

using backend::Event;
using backend::PanelOps;
using backend::Queue;

template <class T>
using Devices = std::vector<PanelOps<T>*>;

/// The panels of successive steps use the `slots` of each device cyclically.
template <class T>
class PanelRing {
 public:
  /// One for the products, one for the look-ahead panel, one for a transfer in progress.
  static constexpr int kSlots = 3;
  /// Columns after a panel in the same memory.
  static constexpr int64_t kBehind = 64;

  /// Allocates the slots of one more device; a null arena counts. @param swapped as View.
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
  /// Makes `queue` wait for all reads of the previous panel in the slot.
  void claim(PanelOps<T>& ops, Queue queue, int device, int64_t step) {
    for (const Event& reader : slot(device, step).readers) ops.wait(queue, reader);
  }
  /// All queues that write the slot have claimed it: reads recorded from here on are of the new
  /// panel.
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
