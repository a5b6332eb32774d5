// Device memory of tile low rank matrices, kept for reuse.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"
#include "base/free_blocks.hpp"

namespace chol::cuda::tlr {

/// Suballocates blocks from large pieces of device memory. A released block is reused by work
/// queued later, which is safe on a single stream. When the stream changes, the caller waits for
/// the previous one. When several streams are used, the caller holds released blocks until the
/// streams are synchronized.
class Pool final : public Memory {
 public:
  explicit Pool(int device) : device_(device) {}
  ~Pool() override;
  void* allocate(size_t bytes) override;
  void release(void* memory) noexcept override;
  /// Returns unused memory to the device.
  void trim();
  /// Reasons for which released blocks are not reused yet.
  enum Reason : unsigned { beside = 1, forked = 2, ahead = 4 };
  void hold(Reason reason) { reasons_ |= reason; }
  /// Removes the reason for blocks released from now on and, if `has_ended`, for those released
  /// before.
  void end_hold(Reason reason, bool has_ended = true);

 private:
  static constexpr size_t kAlignment = 256;
  bool add_piece(size_t bytes);
  void give_back(void* memory);
  void join_recent();

  int device_;
  FreeBlocks free_;
  /// Recently released blocks by size, since most requests repeat a size. They are merged with
  /// adjacent free blocks before more device memory is allocated.
  std::unordered_map<size_t, std::vector<char*>> recent_;
  std::unordered_map<void*, size_t> sizes_;  ///< of the blocks in use
  std::vector<std::pair<void*, unsigned>> held_;
  unsigned reasons_ = 0;
};

/// Transfers lists to the device from pinned memory, in the order of a stream.
class Upload {
 public:
  Upload() = default;
  ~Upload();
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;

  template <class E>
  const E* send(const std::vector<E>& list, cudaStream_t stream) {
    return static_cast<const E*>(send(list.data(), list.size() * sizeof(E), stream));
  }
  /// The next lists, of these sizes in bytes, remain in place until all of them have been sent.
  void keep_together(std::initializer_list<size_t> lists);
  /// Pinned memory for results of the device.
  void* results(size_t bytes);

 private:
  const void* send(const void* data, size_t bytes, cudaStream_t stream);
  static size_t padded(size_t bytes) { return (bytes + 255) / 256 * 256; }
  void reserve(size_t bytes);

  char* host_ = nullptr;
  char* device_ = nullptr;
  size_t capacity_ = 0, used_ = 0;
  void* results_ = nullptr;
  size_t results_bytes_ = 0;
};

/// Throws the error that becomes the status of the call.
void check(cudaError_t error, const char* doing);

/// Sets the limit of dynamic shared memory per block, and the largest shared-memory carveout, so
/// that kernels with different needs run concurrently.
template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "kernel");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "kernel");
}

}  // namespace chol::cuda::tlr
