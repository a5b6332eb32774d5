// Initialization of a kernel once a device.
#pragma once

#include <atomic>

#include "common/launch.hpp"

namespace chol::cuda::persistent {

/// Allows kKernel more than 48 KiB of shared memory.
template <auto kKernel>
Status allow_shared_memory(int device, int bytes) {
  static std::atomic<uint64_t> prepared{0};
  const uint64_t bit = uint64_t(1) << (device & 63);
  if (device < 64 && (prepared.load(std::memory_order_relaxed) & bit)) return Status::success();
  const Status status =
      status_of(cudaFuncSetAttribute(kKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                "shared memory of one matrix");
  if (status.ok() && device < 64) prepared.fetch_or(bit, std::memory_order_relaxed);
  return status;
}

}  // namespace chol::cuda::persistent
