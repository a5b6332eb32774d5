// The plug-in: the entry point of libchol_cuda.
#include "backend/plugin.hpp"

#include <new>

#include "backend.hpp"
#include "common/launch.hpp"

namespace chol::cuda {
namespace {

constexpr int kOldestCapability = 80;  // cp.async and the double precision tensor cores

/// The device to open, or the reason why there is none.
Status choose_device(int device_count, const int* devices, int* device) {
  int present = 0;
  const cudaError_t error = cudaGetDeviceCount(&present);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return Status::error(CHOL_STATUS_NO_DEVICE, "no CUDA device: %s", cudaGetErrorString(error));
  }
  if (present == 0) return Status::error(CHOL_STATUS_NO_DEVICE, "no CUDA device on this machine");
  if (device_count > 0) {
    *device = devices[0];
    if (*device < 0 || *device >= present)
      return Status::error(CHOL_STATUS_NO_DEVICE, "device %d, must be in 0 .. %d", *device,
                           present - 1);
    return Status::success();
  }
  return status_of(cudaGetDevice(device), "current device");
}

}  // namespace
}  // namespace chol::cuda

extern "C" __attribute__((visibility("default"))) chol::backend::Backend* chol_backend_open(
    int plugin_version, int device_count, const int* devices, chol::Status* status) {
  using namespace chol;
  if (plugin_version != backend::kPluginVersion) {
    *status = Status::error(CHOL_STATUS_NO_DEVICE,
                            "no CUDA backend: plug-in of version %d for a library of version %d",
                            backend::kPluginVersion, plugin_version);
    return nullptr;
  }
  int device = 0;
  *status = cuda::choose_device(device_count, devices, &device);
  if (!status->ok()) return nullptr;
  cudaDeviceProp properties{};
  *status = cuda::status_of(cudaGetDeviceProperties(&properties, device), "device properties");
  if (!status->ok()) return nullptr;
  const int capability = 10 * properties.major + properties.minor;
  if (capability < cuda::kOldestCapability) {
    *status = Status::error(CHOL_STATUS_NO_DEVICE,
                            "no CUDA device: %s has compute capability %d.%d, must be at least 8.0",
                            properties.name, properties.major, properties.minor);
    return nullptr;
  }
  try {
    return cuda::make_backend(device, properties);
  } catch (const std::bad_alloc&) {
    *status = Status::error(CHOL_STATUS_ALLOC_FAILED, "CUDA backend: out of memory");
    return nullptr;
  }
}
