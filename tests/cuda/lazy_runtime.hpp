// A CUDA runtime on host memory for tests of synchronization: queued work is executed only when it
// is waited for, or earlier at random.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <random>

/// One instance in the test program, with the runtime's function names.
struct CUstream_st {
  std::deque<std::function<void()>> queue;
  long queued = 0, done = 0;

  void push(std::function<void()> work) {
    queue.push_back(std::move(work));
    ++queued;
  }
  void run_until(long position) {
    while (done < position) {
      const auto work = std::move(queue.front());
      queue.pop_front();
      work();
      ++done;
    }
  }
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  long position = 0;
  bool happened() const { return !stream || stream->done >= position; }
  void happen() {
    if (stream) stream->run_until(position);
  }
};

namespace chol::test {

inline std::mt19937 chance(1);
/// One in so many queries executes pending work.
inline unsigned query_odds = 2;
/// Number of calls until one fails; below 0: none fails.
inline int calls_before_failure = -1;

inline cudaError_t outcome() {
  if (calls_before_failure < 0) return cudaSuccess;
  return calls_before_failure == 0 ? cudaErrorUnknown : (--calls_before_failure, cudaSuccess);
}

inline void copy_lines(char* to, size_t to_pitch, const char* from, size_t from_pitch, size_t bytes,
                       size_t lines) {
  for (size_t line = 0; line < lines; ++line)
    std::memcpy(to + line * to_pitch, from + line * from_pitch, bytes);
}

}  // namespace chol::test

extern "C" {

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  stream->push([] {});
  *event = {stream, stream->queued};
  return chol::test::outcome();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (chol::test::chance() % chol::test::query_odds == 0) event->happen();
  const cudaError_t good = chol::test::outcome();
  return good == cudaSuccess && !event->happened() ? cudaErrorNotReady : good;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  event->happen();
  if (event->stream && chol::test::chance() % 2) event->stream->run_until(event->stream->queued);
  return chol::test::outcome();
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  stream->push([recorded = *event]() mutable { recorded.happen(); });
  return chol::test::outcome();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->run_until(stream->queued);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  stream->push([=] { std::memcpy(to, from, bytes); });
  return chol::test::outcome();
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t bytes, size_t lines, cudaMemcpyKind, cudaStream_t stream) {
  stream->push([=] {
    chol::test::copy_lines(static_cast<char*>(to), to_pitch, static_cast<const char*>(from),
                           from_pitch, bytes, lines);
  });
  return chol::test::outcome();
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "made to fail"; }
const char* cudaGetErrorName(cudaError_t) { return "test"; }

}  // extern "C"
