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
constexpr size_t kSlabBytes = size_t{64} << 20;
constexpr size_t kLargestOfSlab = size_t{1} << 20;
constexpr size_t kLeastUpload = size_t{32} << 20;
}  // namespace

Pool::~Pool() {
  const DeviceGuard guard(device_);
  trim();
  for (void* slab : slabs_) cudaFree(slab);
}

size_t Pool::rounded(size_t bytes) {
  size_t power = 256;
  while (2 * power <= bytes) power *= 2;
  const size_t step = power < 1024 ? 256 : power / 4;
  return (bytes + step - 1) / step * step;
}

void Pool::trim() {
  for (auto& [bytes, blocks] : free_) {
    if (bytes <= kLargestOfSlab) continue;
    for (void* block : blocks) {
      sizes_.erase(block);
      cudaFree(block);
    }
    blocks.clear();
  }
}

void* Pool::from_device(size_t bytes) {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
  cudaGetLastError();
  cudaDeviceSynchronize();
  trim();
  if (cudaMalloc(&memory, bytes) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}

void* Pool::from_slab(size_t bytes) {
  if (slab_left_ < bytes) {
    void* slab = from_device(kSlabBytes);
    if (!slab) return nullptr;
    slabs_.push_back(slab);
    slab_ = static_cast<char*>(slab);
    slab_left_ = kSlabBytes;
  }
  void* memory = slab_;
  slab_ += bytes;
  slab_left_ -= bytes;
  return memory;
}

void* Pool::allocate(size_t bytes) {
  bytes = rounded(bytes);
  std::vector<void*>& blocks = free_[bytes];
  if (!blocks.empty()) {
    void* memory = blocks.back();
    blocks.pop_back();
    return memory;
  }
  const DeviceGuard guard(device_);
  void* memory = bytes <= kLargestOfSlab ? from_slab(bytes) : from_device(bytes);
  if (memory) sizes_[memory] = bytes;
  return memory;
}

void Pool::release(void* memory) noexcept {
  if (reasons_ != 0)
    held_.emplace_back(memory, reasons_);
  else
    free_[sizes_[memory]].push_back(memory);
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
      free_[sizes_[memory]].push_back(memory);
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
  check(cudaDeviceSynchronize(), "lists of products");  // another stream may have some, too
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
