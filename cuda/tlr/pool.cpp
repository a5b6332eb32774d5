#include "tlr/pool.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/status_error.hpp"
#include "common/launch.hpp"
#include "tlr/tile_ops.hpp"

namespace chol::cuda::tlr {

void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw std::bad_alloc();
  }
  throw StatusError(status_of(error, doing));
}

namespace {
/// Size of the pieces in which device memory is allocated: an eighth of the memory allocated so
/// far, so that small matrices use little memory and large ones few pieces.
constexpr size_t kLeastPiece = size_t{64} << 20;
constexpr size_t kMostPiece = size_t{1} << 30;
constexpr size_t kLeastUpload = size_t{32} << 20;
}  // namespace

Pool::~Pool() {
  for (const auto& [memory, reasons] : held_) give_back(memory);
  trim();
}

void Pool::trim() {
  join_recent();
  const DeviceGuard guard(device_);
  free_.remove_unused([](char* piece) { cudaFree(piece); });
}

bool Pool::add_piece(size_t bytes) {
  const size_t wanted =
      std::max(bytes, std::clamp(free_.bytes_of_pieces() / 8, kLeastPiece, kMostPiece));
  const DeviceGuard guard(device_);
  void* piece = nullptr;
  size_t size = wanted;
  if (cudaMalloc(&piece, size) != cudaSuccess) {
    cudaGetLastError();
    cudaDeviceSynchronize();
    trim();
    size = bytes;
    if (cudaMalloc(&piece, size) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
  }
  free_.add_piece(static_cast<char*>(piece), size);
  return true;
}

void* Pool::allocate(size_t bytes) {
  bytes = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  char* memory = nullptr;
  if (const auto recent = recent_.find(bytes); recent != recent_.end() && !recent->second.empty()) {
    memory = recent->second.back();
    recent->second.pop_back();
  }
  if (!memory) memory = free_.take(bytes);
  if (!memory) {
    join_recent();
    memory = free_.take(bytes);
  }
  if (!memory && add_piece(bytes)) memory = free_.take(bytes);
  if (memory) sizes_[memory] = bytes;
  return memory;
}

void Pool::give_back(void* memory) {
  const auto found = sizes_.find(memory);
  recent_[found->second].push_back(static_cast<char*>(memory));
  sizes_.erase(found);
}

void Pool::join_recent() {
  for (auto& [bytes, blocks] : recent_) {
    for (char* block : blocks) free_.give_back(block, bytes);
    blocks.clear();
  }
}

void Pool::release(void* memory) noexcept {
  if (reasons_ != 0)
    held_.emplace_back(memory, reasons_);
  else
    give_back(memory);
}

void Pool::end_hold(Reason reason, bool has_ended) {
  reasons_ &= ~unsigned{reason};
  if (!has_ended) return;
  std::vector<std::pair<void*, unsigned>> left;
  for (auto [memory, reasons] : held_) {
    reasons &= ~unsigned{reason};
    if (reasons != 0)
      left.emplace_back(memory, reasons);
    else
      give_back(memory);
  }
  held_ = std::move(left);
}

Store::~Store() {
  if (!has_streams_) return;
  const DeviceGuard guard(device);
  for (Strand& strand : strands_) {
    cudaStreamDestroy(strand.stream);
    cudaEventDestroy(strand.begun);
    cudaEventDestroy(strand.ended);
  }
  cudaFreeHost(diagonal_results);
}

Strand& Store::strand(Which which) {
  if (!has_streams_) {
    constexpr size_t kResultBytes = 8192;
    int lowest = 0, highest = 0;
    check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "stream");
    check(cudaMallocHost(&diagonal_results, kResultBytes), "stream");
    for (int s = 0; s < kStrands; ++s) {
      Strand& strand = strands_[static_cast<size_t>(s)];
      check(cudaEventCreateWithFlags(&strand.begun, cudaEventDisableTiming), "stream");
      check(cudaEventCreateWithFlags(&strand.ended, cudaEventDisableTiming), "stream");
      check(cudaStreamCreateWithPriority(&strand.stream, cudaStreamNonBlocking,
                                         s >= samples_ahead ? lowest : highest),
            "stream");
    }
    has_streams_ = true;
  }
  return strands_[static_cast<size_t>(which)];
}

Upload::~Upload() {
  cudaFreeHost(host_);
  cudaFree(device_);
  cudaFreeHost(results_);
}

void Upload::reserve(size_t bytes) {
  if (used_ + bytes <= capacity_) return;
  // Lists may also be in use on another stream.
  check(cudaDeviceSynchronize(), "lists of products");
  used_ = 0;
  if (bytes <= capacity_) return;
  cudaFreeHost(host_);
  cudaFree(device_);
  host_ = device_ = nullptr;
  capacity_ = 0;
  const size_t wanted = std::max(2 * bytes, kLeastUpload);
  void *host = nullptr, *device = nullptr;
  check(cudaMallocHost(&host, wanted), "lists of products");
  host_ = static_cast<char*>(host);
  check(cudaMalloc(&device, wanted), "lists of products");
  device_ = static_cast<char*>(device);
  capacity_ = wanted;
}

void Upload::keep_together(std::initializer_list<size_t> lists) {
  size_t bytes = 0;
  for (const size_t list : lists) bytes += padded(list);
  reserve(bytes);
}

const void* Upload::send(const void* data, size_t bytes, cudaStream_t stream) {
  reserve(padded(bytes));
  std::memcpy(host_ + used_, data, bytes);
  void* const to = device_ + used_;
  check(cudaMemcpyAsync(to, host_ + used_, bytes, cudaMemcpyHostToDevice, stream),
        "lists of products");
  used_ += padded(bytes);
  return to;
}

void* Upload::results(size_t bytes) {
  if (bytes > results_bytes_) {
    cudaFreeHost(results_);
    results_ = nullptr;
    results_bytes_ = 0;
    check(cudaMallocHost(&results_, 2 * bytes), "results");
    results_bytes_ = 2 * bytes;
  }
  return results_;
}

}  // namespace chol::cuda::tlr
