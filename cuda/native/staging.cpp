#include "native/staging.hpp"

#include <algorithm>
#include <cstring>

#include "base/threads/parallel_for.hpp"

namespace chol::cuda {
namespace {

constexpr size_t kInfoBytes = 256;

/// Calls move(address in the matrix, address in the rectangle, bytes) for the part of each line in
/// the triangle.
template <class Move>
void for_each_line(const TriangleView& matrix, const TrianglePiece& piece, int threads,
                   Move&& move) {
  const int64_t lines = piece.lines(matrix), length = piece.length(matrix);
  char* const start = piece.start(matrix);
  const auto copy_line = [&](int64_t line, bool, int) {
    const int64_t from = matrix.swapped ? 0 : line;
    const int64_t to = matrix.swapped ? std::min(line + 1, length) : length;
    move(start + matrix.element * (line * matrix.ld + from),
         matrix.element * (line * length + from), matrix.element * (to - from));
  };
  constexpr double kBytesPerNs = 8;
  const double bytes = static_cast<double>(matrix.element) * static_cast<double>(lines * length);
  constexpr int64_t kLinesAtATime = 4;
  parallel_for(
      {lines, kLinesAtATime, std::min(threads, LoopPartition::kMostShares), bytes / kBytesPerNs},
      threads, copy_line);
}

}  // namespace

void pack(const TriangleView& matrix, const TrianglePiece& piece, char* rectangle, int threads) {
  for_each_line(matrix, piece, threads, [&](const char* line, size_t offset, size_t bytes) {
    std::memcpy(rectangle + offset, line, bytes);
  });
}

void unpack(const char* rectangle, const TriangleView& matrix, const TrianglePiece& piece,
            int threads) {
  for_each_line(matrix, piece, threads, [&](char* line, size_t offset, size_t bytes) {
    std::memcpy(line, rectangle + offset, bytes);
  });
}

Staging::~Staging() {
  for (const Events& of_piece : events)
    for (cudaEvent_t event : {of_piece.arrived, of_piece.finished, of_piece.returned})
      if (event) cudaEventDestroy(event);
  for (cudaStream_t stream : {up, compute, down})
    if (stream) cudaStreamDestroy(stream);
  if (pinned_) cudaFreeHost(pinned_);
}

Status Staging::make_slots() {
  constexpr size_t kBytes = kSlotBytes + kInfoBytes;
  void* memory = nullptr;
  const Status status =
      status_of(cudaHostAlloc(&memory, 2 * kSlots * kBytes, cudaHostAllocDefault), "pinned memory");
  if (!status.ok()) return status;
  pinned_ = static_cast<char*>(memory);
  char* next = pinned_;
  for (auto* slots : {&up_slots, &down_slots})
    for (StagingSlot& slot : *slots) {
      slot = {next, reinterpret_cast<int*>(next + kSlotBytes)};
      next += kBytes;
    }
  return status;
}

Status Staging::prepare(size_t pieces) {
  Status status;
  if (!pinned_) status = make_slots();
  for (cudaStream_t* stream : {&up, &compute, &down})
    if (status.ok() && !*stream)
      status = status_of(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream");
  if (events.size() < pieces) events.resize(pieces);
  for (size_t i = 0; i < pieces; ++i)
    for (cudaEvent_t* event : {&events[i].arrived, &events[i].finished, &events[i].returned})
      if (status.ok() && !*event)
        status = status_of(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event");
  return status;
}

void Staging::wait() const {
  for (cudaStream_t stream : {up, compute, down})
    if (stream && cudaStreamSynchronize(stream) != cudaSuccess) cudaGetLastError();
}

}  // namespace chol::cuda
