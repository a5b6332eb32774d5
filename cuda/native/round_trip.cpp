#include "native/round_trip.hpp"

#include <algorithm>

#include "chol.h"

namespace chol::cuda {
namespace {

/// With more columns in a piece the last pieces would not overlap.
constexpr int64_t kMostColumns = 512;
/// Columns that the inverse of one tile of a leaf computes together. No piece ends inside such a
/// group.
constexpr int64_t kTileColumns = 16;
/// Filling a buffer takes the host about as long as the device needs for this number of leaves:
/// buffers are filled in advance only once for so many queued leaves, or the device would run out
/// of work.
constexpr int kLeavesAPiece = 4;

Status has_happened(cudaEvent_t event, bool* happened) {
  const cudaError_t error = cudaEventQuery(event);
  *happened = error == cudaSuccess;
  if (error != cudaErrorNotReady) return status_of(error, "factorization");
  cudaGetLastError();  // clears cudaErrorNotReady, which the next launch would report
  return Status::success();
}

}  // namespace

RoundTrip::RoundTrip(Staging& staging, const TriangleView& host, const TriangleView& device,
                     const int* info, int threads, HasNan has_nan)
    : staging_(staging),
      host_(host),
      device_(device),
      device_info_(info),
      threads_(threads),
      has_nan_(has_nan),
      pieces_(pieces_of(host)) {}

std::vector<TrianglePiece> RoundTrip::pieces_of(const TriangleView& matrix) {
  const int64_t room = static_cast<int64_t>(Staging::kSlotBytes / matrix.element);
  std::vector<TrianglePiece> pieces;
  for (int64_t first = 0; first < matrix.n; first = pieces.back().last) {
    int64_t fit = std::clamp<int64_t>(room / (matrix.n - first), 1, kMostColumns);
    if (fit > kTileColumns) fit -= fit % kTileColumns;
    pieces.push_back({first, std::min(matrix.n, first + fit)});
  }
  return pieces;
}

/// Waits for a buffer, fills it and sends it.
Status RoundTrip::send_next() {
  const TrianglePiece& piece = pieces_[sent_];
  const StagingSlot& slot = staging_.up_slots[sent_ % Staging::kSlots];
  Status status;
  if (sent_ >= Staging::kSlots)
    status = status_of(cudaEventSynchronize(staging_.events[sent_ - Staging::kSlots].arrived),
                       "transfer to the device");
  if (!status.ok()) return status;
  pack(host_, piece, slot.memory, threads_);
  const size_t line = host_.element * piece.length(host_);
  status = status_of(
      cudaMemcpy2DAsync(piece.start(device_), device_.element * device_.ld, slot.memory, line, line,
                        piece.lines(host_), cudaMemcpyHostToDevice, staging_.up),
      "transfer to the device");
  if (status.ok())
    status = status_of(cudaEventRecord(staging_.events[sent_].arrived, staging_.up),
                       "transfer to the device");
  ++sent_;
  return status;
}

/// Queues the copy of the next finished piece to a free buffer.
Status RoundTrip::take_back_next() {
  const TrianglePiece& piece = pieces_[requested_];
  const StagingSlot& slot = staging_.down_slots[requested_ % Staging::kSlots];
  const Staging::Events& events = staging_.events[requested_];
  const size_t line = host_.element * piece.length(host_);
  Status status = status_of(cudaStreamWaitEvent(staging_.down, events.finished, 0), "stream");
  if (status.ok())
    status = status_of(cudaMemcpyAsync(slot.info, device_info_, sizeof(int), cudaMemcpyDeviceToHost,
                                       staging_.down),
                       "transfer from the device");
  if (status.ok())
    status = status_of(
        cudaMemcpy2DAsync(slot.memory, line, piece.start(device_), device_.element * device_.ld,
                          line, piece.lines(host_), cudaMemcpyDeviceToHost, staging_.down),
        "transfer from the device");
  if (status.ok())
    status = status_of(cudaEventRecord(events.returned, staging_.down), "transfer from the device");
  ++requested_;
  return status;
}

/// Copies the oldest piece in transfer to the host's matrix after its arrival.
Status RoundTrip::unpack_next() {
  const Status status = status_of(cudaEventSynchronize(staging_.events[returned_].returned),
                                  "transfer from the device");
  if (!status.ok()) return status;
  const TrianglePiece& piece = pieces_[returned_];
  const StagingSlot& slot = staging_.down_slots[returned_ % Staging::kSlots];
  // info as of the time when the piece was finished, or later: it may report a pivot of a later
  // piece.
  const bool fails = *slot.info > 0 && *slot.info <= piece.last;
  if (fails && is_spoilt(piece, slot.memory, *slot.info - 1))
    return Status::error(CHOL_STATUS_NOT_SUPPORTED, "a NaN next to pivot %d, which fails",
                         *slot.info);
  unpack(slot.memory, host_, piece, threads_);
  if (fails) bad_minor_ = *slot.info;
  ++returned_;
  return status;
}

/// Whether rows other than the bad pivot's have a NaN in the columns that are computed together
/// with its own: a NaN times the zeros of an inverted tile.
bool RoundTrip::is_spoilt(const TrianglePiece& piece, const char* rectangle, int64_t bad) const {
  const int64_t first = std::max(piece.first, bad - kTileColumns + 1), length = piece.length(host_);
  const auto has_nan = [&](int64_t line, int64_t begin, int64_t end) {
    const int64_t at = (line - piece.first) * length + begin - piece.first;
    return begin < end && has_nan_(rectangle + host_.element * at, end - begin);
  };
  if (host_.swapped) {
    for (int64_t row = first; row < host_.n; ++row)
      if (row != bad && has_nan(row, first, std::min(row + 1, bad))) return true;
  } else {
    for (int64_t column = first; column < bad; ++column)
      if (has_nan(column, column, bad) || has_nan(column, bad + 1, host_.n)) return true;
  }
  return false;
}

/// One step of each kind that need not wait.
Status RoundTrip::advance() {
  Status status;
  bool is_free = sent_ < Staging::kSlots;
  if (++steps_ % kLeavesAPiece == 0 && sent_ < pieces_.size()) {
    if (!is_free) status = has_happened(staging_.events[sent_ - Staging::kSlots].arrived, &is_free);
    if (status.ok() && is_free) status = send_next();
  }
  bool is_here = false;
  if (status.ok() && returned_ < requested_ && !is_back())
    status = has_happened(staging_.events[returned_].returned, &is_here);
  if (status.ok() && is_here) status = unpack_next();
  if (status.ok() && requested_ < finished_ && requested_ - returned_ < Staging::kSlots &&
      !is_back())
    status = take_back_next();
  return status;
}

Status RoundTrip::need(int64_t columns) {
  Status status;
  while (status.ok() && (sent_ == 0 || pieces_[sent_ - 1].last < columns)) status = send_next();
  size_t wanted = awaited_;
  while (wanted == 0 || pieces_[wanted - 1].last < columns) ++wanted;
  if (status.ok() && wanted > awaited_) {
    awaited_ = wanted;
    status = status_of(
        cudaStreamWaitEvent(staging_.compute, staging_.events[wanted - 1].arrived, 0), "stream");
  }
  return status;
}

Status RoundTrip::finished(int64_t columns) {
  Status status;
  while (status.ok() && finished_ < pieces_.size() && pieces_[finished_].last <= columns) {
    status =
        status_of(cudaEventRecord(staging_.events[finished_].finished, staging_.compute), "stream");
    ++finished_;
  }
  return status.ok() ? advance() : status;
}

Status RoundTrip::finish() {
  Status status;
  while (status.ok() && !is_back()) {
    while (status.ok() && requested_ < finished_ && requested_ - returned_ < Staging::kSlots)
      status = take_back_next();
    if (status.ok()) status = unpack_next();
  }
  return status;
}

}  // namespace chol::cuda
