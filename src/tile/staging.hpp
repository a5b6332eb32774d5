// Columns of a matrix in pageable host memory on their way to the devices and back: through pinned
// buffers, of which threads of the host fill or empty one while the other is on the link.
#pragma once

#include <deque>

#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
class Staging {
 public:
  static constexpr int kBuffers = 2;  ///< of a device, each way
  static constexpr size_t kBytes = size_t{16} << 20;

  /// @param whole the lower view of the matrix, of n rows.
  /// @param bytes of a buffer; at least a column.
  /// @param returned columns that have been written to the matrix; the others are as they were.
  /// nullptr: of what is no factorization, where no pivot can be bad.
  Staging(const Devices<T>& devices, const View<T>& whole, int64_t n, size_t bytes,
          int64_t* returned)
      : devices_(devices),
        whole_(whole),
        room_(std::max<int64_t>(static_cast<int64_t>(bytes / sizeof(T)), n)),
        returned_(returned) {
    for (PanelOps<T>* ops : devices) {
      T* const memory = static_cast<T*>(ops->pinned_memory(
          backend::Pinned::host_matrix, 2 * kBuffers * static_cast<size_t>(room_) * sizeof(T)));
      for (Way* way : {&up_, &down_})
        for (int b = 0; b < kBuffers; ++b)
          way->buffers.push_back({memory + ((way == &up_ ? 0 : kBuffers) + b) * room_, {}});
      up_.next.push_back(0);
      down_.next.push_back(0);
    }
  }

  /// Queues the transfer of a block to `to`; of a block on the diagonal, of its triangle. The
  /// device's queue of loads has its waits already.
  void load(int device, const View<T>& to, int64_t row, int64_t column, int64_t rows,
            int64_t columns) {
    PanelOps<T>& ops = *devices_[static_cast<size_t>(device)];
    const bool triangle = row == column;
    for_each_piece(rows, columns, triangle, [&](int64_t at, int64_t below, int64_t width) {
      const int64_t down = triangle ? at : 0;
      Buffer& buffer = next(up_, device);
      // What it held before must be on the device.
      if (buffer.used) ops.wait_on_host(buffer.used);
      const View<T> piece = view(buffer, below, width);
      ops.copy_on_host(piece, whole_.at(row + down, column + at), below, width, triangle);
      ops.copy(Queue::load, to.at(down, at), piece, below, width);
      buffer.used = ops.record(Queue::load);
    });
  }

  /// Queues the transfer of a block from `from` to the host; of a block on the diagonal, of its
  /// triangle. Blocks are written to the matrix in the order in which they are given, whichever
  /// device has them; those of a factorization are whole columns from the diagonal on, in ascending
  /// order.
  /// @return up to where the device reads it.
  Event store(int device, const View<T>& from, int64_t row, int64_t column, int64_t rows,
              int64_t columns) {
    PanelOps<T>& ops = *devices_[static_cast<size_t>(device)];
    Event read;
    const bool triangle = row == column;
    for_each_piece(rows, columns, triangle, [&](int64_t at, int64_t below, int64_t width) {
      const int64_t down = triangle ? at : 0;
      Buffer& buffer = next(down_, device);
      while (buffer.is_full) unpack_first();
      ops.copy(Queue::store, view(buffer, below, width), from.at(down, at), below, width);
      read = ops.record(Queue::store);
      buffer.used = read;
      buffer.is_full = true;
      under_way_.push_back({&buffer, device, row + down, column + at, below, width, triangle});
    });
    return read;
  }
  /// Waits for all that is on its way back.
  void finish() {
    while (!under_way_.empty()) unpack_first();
  }

  /// The column from which on the devices count their pivots.
  void count_from(int64_t column) { first_ = column; }
  /// A piece with a bad pivot is not written either: those behind it never are.
  void keep_bad_piece() { keeps_bad_piece_ = true; }

 private:
  struct Buffer {
    T* memory;
    Event used;            ///< the copy to or from it
    bool is_full = false;  ///< on its way back
  };
  struct Way {
    std::vector<Buffer> buffers;  ///< of one device after the other
    std::vector<int> next;
  };
  struct Piece {
    Buffer* buffer;
    int device;
    int64_t row, column, rows, columns;
    bool triangle;
  };

  Buffer& next(Way& way, int device) {
    int& turn = way.next[static_cast<size_t>(device)];
    Buffer& buffer =
        way.buffers[static_cast<size_t>(device) * kBuffers + static_cast<size_t>(turn)];
    turn = (turn + 1) % kBuffers;
    return buffer;
  }
  View<T> view(const Buffer& buffer, int64_t rows, int64_t columns) const {
    return {buffer.memory, whole_.swapped ? columns : rows, whole_.swapped};
  }
  /// Calls body(first column, rows, columns) for columns that fit into a buffer; of a triangle from
  /// the diagonal down.
  template <class Body>
  void for_each_piece(int64_t rows, int64_t columns, bool triangle, Body&& body) const {
    int64_t width = 0;
    for (int64_t at = 0; at < columns; at += width) {
      const int64_t below = triangle ? rows - at : rows;
      width = std::min(columns - at, std::max<int64_t>(room_ / below, 1));
      body(at, below, width);
    }
  }
  void unpack_first() {
    const Piece piece = under_way_.front();
    under_way_.pop_front();
    PanelOps<T>& ops = *devices_[static_cast<size_t>(piece.device)];
    ops.wait_on_host(piece.buffer->used);
    piece.buffer->is_full = false;
    if (is_bad_) return;
    const int64_t end = piece.column + piece.columns;
    if (returned_) {
      const int bad = ops.info();
      is_bad_ = bad > 0 && bad <= end - first_;
      if (is_bad_ && keeps_bad_piece_) return;
    }
    ops.copy_on_host(whole_.at(piece.row, piece.column),
                     view(*piece.buffer, piece.rows, piece.columns), piece.rows, piece.columns,
                     piece.triangle);
    if (returned_) *returned_ = end;
  }

  const Devices<T>& devices_;
  const View<T> whole_;
  const int64_t room_;  ///< elements of a buffer
  Way up_, down_;
  std::deque<Piece> under_way_;
  int64_t* const returned_;
  int64_t first_ = 0;
  bool keeps_bad_piece_ = false, is_bad_ = false;
};

}  // namespace chol::tile
