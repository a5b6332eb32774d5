// Copies from one device to another: direct, or staged in pinned host memory if the devices cannot
// access each other's memory.
#pragma once

#include "tile/panel_ring.hpp"

namespace chol::tile {

/// A block and the device that stores it.
template <class T>
struct OnDevice {
  int device;
  View<T> view;
};

/// Bytes of pinned memory for each queue that copies.
inline constexpr size_t kPeerBytes = size_t{4} << 20;

/// Queues the copy of a block at device `at`, which is the device of `to` or of `from`. The copy is
/// ordered in the queue like any other operation.
template <class T>
void copy_between(const Devices<T>& devices, int at, Queue queue, const OnDevice<T>& to,
                  const OnDevice<T>& from, int64_t rows, int64_t columns,
                  size_t bytes = kPeerBytes) {
  PanelOps<T>& here = *devices[static_cast<size_t>(at)];
  const int other = at == to.device ? from.device : to.device;
  if (here.reaches(other)) return here.copy(queue, to.view, from.view, rows, columns);
  PanelOps<T>& there = *devices[static_cast<size_t>(other)];
  // The other device copies on a queue of its own, between two events of this queue.
  const bool gives = other == from.device;
  const Queue theirs = gives ? Queue::store : Queue::receive;
  const int64_t room = static_cast<int64_t>(bytes / sizeof(T));
  T* const memory = static_cast<T*>(here.pinned_memory(backend::Pinned::between_devices,
                                                       backend::kQueues * bytes)) +
                    static_cast<int64_t>(queue) * room;
  const bool swapped = to.view.swapped;
  const int64_t length = to.view.length(rows, columns), lines = to.view.lines(rows, columns);
  const int64_t most_length = std::min(length, room),
                most_lines = room / std::max<int64_t>(most_length, 1);
  const auto for_each_piece = [&](auto&& body) {
    for (int64_t line = 0; line < lines; line += most_lines)
      for (int64_t first = 0; first < length; first += most_length) {
        const int64_t l = std::min(most_lines, lines - line),
                      e = std::min(most_length, length - first);
        swapped ? body(line, first, l, e) : body(first, line, e, l);
      }
  };
  for_each_piece([&](int64_t i, int64_t j, int64_t r, int64_t c) {
    const View<T> buffer{memory, swapped ? c : r, swapped};
    const auto copy_there = [&](const View<T>& target, const View<T>& source) {
      there.wait(theirs, here.record(queue));
      there.copy(theirs, target, source, r, c);
      here.wait(queue, there.record(theirs));
    };
    if (gives) {
      copy_there(buffer, from.view.at(i, j));
      here.copy(queue, to.view.at(i, j), buffer, r, c);
    } else {
      here.copy(queue, buffer, from.view.at(i, j), r, c);
      copy_there(to.view.at(i, j), buffer);
    }
  });
}

}  // namespace chol::tile
