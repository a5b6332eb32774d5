// CUDA errors as Status, and the device that a call runs on.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>

#include "base/status.hpp"

namespace chol::cuda {

inline Status status_of(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return Status::success();
  cudaGetLastError();  // an error that is not sticky must not show up in the next call
  return Status::error(
      error == cudaErrorMemoryAllocation ? Status::kAllocFailed : Status::kDeviceError,
      "%s: %s (%s)", doing, cudaGetErrorString(error), cudaGetErrorName(error));
}

/// The status of the launches so far.
inline Status launched(const char* kernel) { return status_of(cudaGetLastError(), kernel); }

/// An attribute of the current device, 0 if unknown.
inline int64_t device_attribute(cudaDeviceAttr attribute) {
  int device = 0, value = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&value, attribute, device);
  return value;
}
/// Shared memory that a block can have on the current device.
inline int64_t block_shared_limit() {
  return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

/// Queues a kernel whose blocks have `bytes` of shared memory. More than 48 KiB must be allowed by
/// a function attribute first.
/// @param early whether it may start before the previous kernel has ended, which the kernel
/// (common/programmatic_launch.cuh) and the device must support.
inline Status launch(const char* name, const void* kernel, dim3 blocks, int threads, size_t bytes,
                     cudaStream_t stream, void** arguments, bool early = false) {
  if (bytes > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return status_of(error, name);
  }
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 1 : 0;
  return status_of(cudaLaunchKernelExC(&config, kernel, arguments), name);
}
template <class... Parameters>
Status launch_as(bool early, const char* name, void (*kernel)(Parameters...), dim3 blocks,
                 int threads, size_t bytes, cudaStream_t stream,
                 std::type_identity_t<Parameters>... values) {
  void* arguments[] = {&values...};
  return launch(name, reinterpret_cast<const void*>(kernel), blocks, threads, bytes, stream,
                arguments, early);
}
template <class... Parameters>
Status launch(const char* name, void (*kernel)(Parameters...), dim3 blocks, int threads,
              size_t bytes, cudaStream_t stream, std::type_identity_t<Parameters>... values) {
  return launch_as(false, name, kernel, blocks, threads, bytes, stream, values...);
}

/// Makes `device` current and restores the caller's device at the end.
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
