// CUDA errors as Status, and the device that a call runs on.
#pragma once

#include <cuda_runtime_api.h>

#include "base/status.hpp"

namespace chol::cuda {

inline Status status_of(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return Status::success();
  cudaGetLastError();  // an error that is not sticky must not show up in the next call
  return Status::error(
      error == cudaErrorMemoryAllocation ? CHOL_STATUS_ALLOC_FAILED : CHOL_STATUS_DEVICE_ERROR,
      "%s: %s (%s)", doing, cudaGetErrorString(error), cudaGetErrorName(error));
}

/// Whether the kernels launched so far could be queued.
inline Status launched(const char* kernel) { return status_of(cudaGetLastError(), kernel); }

/// Makes `device` current and puts the caller's one back.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    if (cudaGetDevice(&before_) != cudaSuccess) before_ = device;
    changed_ = before_ != device;
    if (changed_) cudaSetDevice(device);
  }
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace chol::cuda
