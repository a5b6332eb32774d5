// Pinned memory between a matrix in pageable host memory and its copy on the device. Threads copy
// pieces of the triangle to and from it while the previous piece is being transferred.
#pragma once

#include <array>
#include <vector>

#include "common/launch.hpp"

namespace chol::cuda {

/// The named triangle of a matrix, as the lower triangle of its storage or, swapped, of the storage
/// with rows and columns exchanged.
struct TriangleView {
  char* A = nullptr;
  size_t element = 0;  ///< bytes
  int64_t n = 0, ld = 1;
  bool swapped = false;
};

/// Whole columns first .. last of a lower triangle, from row `first` down: in memory a rectangle
/// without a corner.
struct TrianglePiece {
  int64_t first = 0, last = 0;

  int64_t columns() const { return last - first; }
  /// Length and number of the contiguous runs of elements.
  int64_t length(const TriangleView& of) const { return of.swapped ? columns() : of.n - first; }
  int64_t lines(const TriangleView& of) const { return of.swapped ? of.n - first : columns(); }
  char* start(const TriangleView& of) const { return of.A + of.element * first * (of.ld + 1); }
};

/// Copies the elements of the triangle in a piece to and from a dense rectangle of its lines.
/// Elements outside the triangle are neither read nor written.
void pack(const TriangleView& matrix, const TrianglePiece& piece, char* rectangle, int threads);
void unpack(const char* rectangle, const TriangleView& matrix, const TrianglePiece& piece,
            int threads);

/// A buffer for one piece in transfer.
struct StagingSlot {
  char* memory = nullptr;
  int* info = nullptr;
};

/// Buffers, streams and events, created at the first call and kept for later ones.
class Staging {
 public:
  static constexpr int kSlots =
      3;  ///< in each direction: one being filled, one in transfer, one in between
  static constexpr size_t kSlotBytes = size_t{16} << 20;

  Staging() = default;
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging();

  /// Creates missing resources, with events for so many pieces.
  Status prepare(size_t pieces);
  /// Waits for all queued work.
  void wait() const;

  cudaStream_t up = nullptr, compute = nullptr, down = nullptr;
  std::array<StagingSlot, kSlots> up_slots, down_slots;
  /// Events of a piece: it has arrived, its columns are finished, it has been returned.
  struct Events {
    cudaEvent_t arrived = nullptr, finished = nullptr, returned = nullptr;
  };
  std::vector<Events> events;

 private:
  Status make_slots();
  char* pinned_ = nullptr;
};

}  // namespace chol::cuda
