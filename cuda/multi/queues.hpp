// Resources of one device for calls over several: streams, events, cuBLAS handles.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/panel_ops.hpp"
#include "native/blas.hpp"

namespace chol::cuda::multi {

/// Throws StatusError.
void check(cudaError_t error, const char* doing);

/// Created at the first call and kept for later ones. Not for concurrent calls.
class Queues {
 public:
  explicit Queues(int device) : device_(device) {}
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;
  ~Queues();

  int device() const { return device_; }
  /// Creates missing resources. The device is current.
  void prepare();
  /// Enables peer access to another device if the machine supports it.
  void reach(int other);
  bool reaches(int other) const {
    return std::find(unreached_.begin(), unreached_.end(), other) == unreached_.end();
  }
  /// Begins a call: no event is in use.
  void begin();

  cudaStream_t stream(backend::Queue queue) const { return streams_[static_cast<int>(queue)]; }
  /// Queues of panels and of updates have separate handles: they run concurrently.
  Blas& blas(backend::Queue queue) { return blas_[queue == backend::Queue::panel ? 0 : 1]; }
  cudaEvent_t next_event();
  /// A timed event. The first one of a call waits for the queue.
  cudaEvent_t next_mark(backend::Queue queue);
  /// Nanoseconds of the host's steady clock; -1 while the event has not been reached.
  int64_t time_of(cudaEvent_t mark) const;
  /// Grows and is kept. No queued work may use it when it grows.
  void* pinned(backend::Pinned use, size_t bytes);
  /// Waits for all queues and gives the first error.
  cudaError_t wait();

 private:
  int device_;
  cudaStream_t streams_[backend::kQueues] = {};
  std::vector<cudaEvent_t> events_;
  size_t used_ = 0;
  /// Timed events; the first one is the reference for the others.
  std::vector<cudaEvent_t> marks_;
  size_t used_marks_ = 0;
  int64_t first_mark_time_ = 0;
  std::vector<int> reached_, unreached_;
  struct PinnedMemory {
    void* start = nullptr;
    size_t bytes = 0;
  };
  PinnedMemory pinned_[backend::kPinned];
  Blas blas_[2];
};

}  // namespace chol::cuda::multi
