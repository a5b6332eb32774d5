#include <chrono>
#include <cmath>

#include "base/status_error.hpp"
#include "multi/queues.hpp"

namespace chol::cuda::multi {

void check(cudaError_t error, const char* doing) {
  if (error != cudaSuccess) throw StatusError(status_of(error, doing));
}

Queues::~Queues() {
  const DeviceGuard guard(device_);
  for (const auto* events : {&events_, &marks_})
    for (cudaEvent_t event : *events) cudaEventDestroy(event);
  for (cudaStream_t stream : streams_)
    if (stream) cudaStreamDestroy(stream);
  for (const PinnedMemory& memory : pinned_)
    if (memory.start) cudaFreeHost(memory.start);
}

void Queues::prepare() {
  int least = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &highest), "stream priorities");
  for (int queue = 0; queue < backend::kQueues; ++queue) {
    if (streams_[queue]) continue;
    const bool is_panel = queue == static_cast<int>(backend::Queue::panel);
    check(cudaStreamCreateWithPriority(&streams_[queue], cudaStreamNonBlocking,
                                       is_panel ? highest : least),
          "stream");
  }
}

void Queues::reach(int other) {
  if (other == device_ || !reaches(other) ||
      std::find(reached_.begin(), reached_.end(), other) != reached_.end())
    return;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, device_, other), "peer access");
  if (!can) {
    unreached_.push_back(other);
    return;
  }
  reached_.push_back(other);
  const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
  if (error == cudaErrorPeerAccessAlreadyEnabled)
    cudaGetLastError();
  else
    check(error, "peer access");
}

cudaEvent_t Queues::next_event() {
  if (used_ == events_.size()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
    events_.push_back(event);
  }
  return events_[used_++];
}

void Queues::begin() {
  used_ = 0;
  used_marks_ = 0;
}

cudaEvent_t Queues::next_mark(backend::Queue queue) {
  const auto next = [&] {
    if (used_marks_ == marks_.size()) {
      cudaEvent_t event = nullptr;
      check(cudaEventCreate(&event), "event");
      marks_.push_back(event);
    }
    return marks_[used_marks_++];
  };
  if (used_marks_ == 0) {
    const cudaEvent_t first = next();
    check(cudaEventRecord(first, stream(queue)), "event");
    check(cudaEventSynchronize(first), "event");
    first_mark_time_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::steady_clock::now().time_since_epoch())
                           .count();
  }
  const cudaEvent_t mark = next();
  check(cudaEventRecord(mark, stream(queue)), "event");
  return mark;
}

int64_t Queues::time_of(cudaEvent_t mark) const {
  float milliseconds = 0;
  if (cudaEventElapsedTime(&milliseconds, marks_.front(), mark) != cudaSuccess) {
    cudaGetLastError();
    return -1;
  }
  return first_mark_time_ + std::llround(1e6 * double(milliseconds));
}

void* Queues::pinned(backend::Pinned use, size_t bytes) {
  PinnedMemory& memory = pinned_[static_cast<int>(use)];
  if (bytes <= memory.bytes) return memory.start;
  if (memory.start) check(cudaFreeHost(memory.start), "pinned memory");
  memory = {};
  check(cudaHostAlloc(&memory.start, bytes, cudaHostAllocPortable), "pinned memory");
  memory.bytes = bytes;
  return memory.start;
}

cudaError_t Queues::wait() {
  cudaError_t first = cudaSuccess;
  for (cudaStream_t stream : streams_)
    if (stream)
      if (const cudaError_t error = cudaStreamSynchronize(stream); first == cudaSuccess)
        first = error;
  return first;
}

}  // namespace chol::cuda::multi
