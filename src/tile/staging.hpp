// Transfers columns of a matrix in pageable host memory to the devices and back through pinned
// buffers: host threads fill or empty one buffer during the transfer of the other.
#pragma once

#include <deque>

#include "tile/panel_ring.hpp"

namespace chol::tile {

template <class T>
class Staging {
 public:
  static constexpr int kBuffers = 2;  ///< for each device and direction
  static constexpr size_t kBytes = size_t{16} << 20;

  /// @param whole the lower view of the matrix, of n rows.
  /// @param bytes size of a buffer; at least a column.
  /// @param returned number of columns written to the matrix; the others are unchanged. nullptr
  /// except for factorizations, since other operations have no bad pivots.
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

  /// Queues the transfer of a block to `to`; of a diagonal block only its triangle. The device's
  /// load queue already has the necessary waits.
  void load(int device, const View<T>& to, int64_t row, int64_t column, int64_t rows,
            int64_t columns) {
    PanelOps<T>& ops = *devices_[static_cast<size_t>(device)];
    const bool triangle = row == column;
    for_each_piece(rows, columns, triangle, [&](int64_t at, int64_t below, int64_t width) {
      const int64_t down = triangle ? at : 0;
      Buffer& buffer = next(up_, device);
      // The previous content of the buffer must be on the device.
      if (buffer.used) ops.wait_on_host(buffer.used);
      const View<T> piece = view(buffer, below, width);
      ops.copy_on_host(piece, whole_.at(row + down, column + at), below, width, triangle);
      ops.copy(Queue::load, to.at(down, at), piece, below, width);
      buffer.used = ops.record(Queue::load);
    });
  }

  /// Queues the transfer of a block from `from` to the host; of a diagonal block only its triangle.
  /// Blocks are written to the matrix in the order of these calls, independent of their device;
  /// those of a factorization are whole columns from the diagonal on, in ascending order.
  /// @return event after the device's last read.
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
  /// Waits for all transfers to the host.
  void finish() {
    while (!under_way_.empty()) unpack_first();
  }

  /// Sets the first column from which the devices count their pivots.
  void count_from(int64_t column) { first_ = column; }
  /// A piece with a bad pivot is not written either; the following ones never are.
  void keep_bad_piece() { keeps_bad_piece_ = true; }

 private:
  struct Buffer {
    T* memory;
    Event used;            ///< completion of the copy to or from it
    bool is_full = false;  ///< its transfer to the host is pending
  };
  struct Way {
    std::vector<Buffer> buffers;  ///< grouped by device
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
  /// Calls body(first column, rows, columns) for groups of columns that fit into a buffer; of a
  /// triangle from the diagonal on.
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
