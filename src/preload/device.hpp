// The CUDA of the process: the preload does not load, link or initialize any of it before a
// cuSOLVER call needs it.
#pragma once

#include <mutex>

#include "chol.h"

namespace chol::preload {

/// A chol handle on the current device and on the caller's stream, for the duration of a call.
/// Empty when the stream is captured into a graph (which may outlive the workspace), or when chol
/// has no backend for the device: cuSOLVER is then used.
///
/// Streams do not share a handle, since concurrent work would share its workspace.
class DeviceLease {
 public:
  explicit DeviceLease(void* stream);
  explicit operator bool() const { return handle_ != nullptr; }
  operator chol_handle_t() const { return handle_; }

 private:
  std::unique_lock<std::mutex> lock_;
  chol_handle_t handle_ = nullptr;
};

/// Major compute capability of the current device, or 0.
int device_capability();

/// Sets one int in device memory to zero, in the order of the stream. Returns whether that worked.
bool clear_on_stream(int* value, void* stream);

}  // namespace chol::preload
