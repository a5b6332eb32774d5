// Memory of tile low rank matrices on a device, kept from one use to the next.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "base/buffer.hpp"
#include "base/free_blocks.hpp"

namespace chol::cuda::tlr {

/// Blocks of large pieces of the device's memory. One that was released is used again by what is
/// queued later, which one stream at a time makes safe: who changes the stream waits for it, who
/// uses several holds what is released until they have met.
class Pool final : public Memory {
 public:
  explicit Pool(int device) : device_(device) {}
  ~Pool() override;
  void* allocate(size_t bytes) override;
  void release(void* memory) noexcept override;
  /// Gives back to the device what is not in use.
  void trim();
  /// Why what is released is not used again yet.
  enum Reason : unsigned { beside = 1, forked = 2, ahead = 4 };
  void hold(Reason reason) { reasons_ |= reason; }
  /// What is released from now on does not wait for it; nor does what was, where `has_ended`.
  void end_hold(Reason reason, bool has_ended = true);

 private:
  static constexpr size_t kAlignment = 256;
  bool add_piece(size_t bytes);
  void give_back(void* memory);
  void join_recent();

  int device_;
  FreeBlocks free_;
  /// By size, blocks that were given back lately: most are wanted again in the same size. They are
  /// joined with their neighbours before more of the device's memory is taken.
  std::unordered_map<size_t, std::vector<char*>> recent_;
  std::unordered_map<void*, size_t> sizes_;  ///< of what is in use
  std::vector<std::pair<void*, unsigned>> held_;
  unsigned reasons_ = 0;
};

/// What is sent to the device: lists, from pinned memory, in the order of a stream.
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
  /// Lists of so many bytes, which are sent next, stay where they are until all have been sent.
  void keep_together(std::initializer_list<size_t> lists);
  /// Where the host reads results of the device.
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

/// Throws what a call of this library ends with.
void check(cudaError_t error, const char* doing);

/// Lets a kernel have so many bytes of a block, and multiprocessors as much shared memory as they
/// can, so that kernels run side by side whatever they need.
template <class Kernel>
void allow_shared(Kernel kernel, int bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "kernel");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "kernel");
}

}  // namespace chol::cuda::tlr
