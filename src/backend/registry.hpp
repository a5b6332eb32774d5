// Finds the backends of this machine.
#pragma once

#include <memory>

#include "backend/backend.hpp"

namespace chol::backend {

/// Deletes the backend and, for a plug-in, closes the library it came from.
struct BackendDeleter {
  void* library = nullptr;
  void operator()(Backend* backend) const;
};
using BackendPointer = std::unique_ptr<Backend, BackendDeleter>;

/// The host backend, always there.
Status open_host(BackendPointer& backend);

/// The CUDA backend from libchol_cuda.so in the folder of libchol.so (or the file that
/// CHOL_CUDA_PLUGIN names); NO_DEVICE with the reason when there is no plug-in or no device.
Status open_cuda(int device_count, const int* devices, BackendPointer& backend);

/// Whether open_cuda() may find a device: whether a driver, or a plug-in named by the user, exists.
/// Loads and initializes nothing.
bool device_is_likely();

}  // namespace chol::backend
