// Checks of handles with named devices, and of arrays on these.
#pragma once

#include "api/check.hpp"
#include "api/entry.hpp"

namespace chol::api {

/// The handle has named devices (NOT_SUPPORTED otherwise), and none has failed.
inline Status check_named_devices(const char* function, const routine::Handle& handle) {
  if (!handle.device_failure.ok())
    return Status::error(CHOL_STATUS_DEVICE_ERROR,
                         "%s: an earlier call failed, make another handle (%s)", function,
                         handle.device_failure.message());
  if (!handle.named_devices().empty()) return Status::success();
  return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                       "%s: the handle has no named devices, must come from chol_create_on with "
                       "device_count >= 1",
                       function);
}

inline Status check_named_device(const char* function, const routine::Handle& handle, int which) {
  const Status status = check_named_devices(function, handle);
  const int count = static_cast<int>(handle.named_devices().size());
  if (!status.ok() || (which >= 0 && which < count)) return status;
  return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: which = %d, must be in 0 .. %d", function,
                       which, count - 1);
}

inline Status check_on_device(const char* function, const char* name, const void* array,
                              const backend::Backend& device) {
  const backend::Place place = device.place_of(array);
  if (place == backend::Place::device &&
      (place.number == device.device() || place.number == backend::Place::kEveryDevice))
    return Status::success();
  char where[32] = "host memory";
  if (place == backend::Place::device)
    std::snprintf(where, sizeof where, "memory of device %d", place.number);
  return Status::error(CHOL_STATUS_INVALID_VALUE, "%s: %s is in %s, must be in memory of device %d",
                       function, name, where, device.device());
}

inline Status check_in_host_memory(const char* function, const char* name, const void* array,
                                   const backend::Backend& device) {
  if (device.place_of(array) == backend::Place::host) return Status::success();
  return Status::error(CHOL_STATUS_INVALID_VALUE,
                       "%s: %s is in device memory, must be in host memory", function, name);
}

}  // namespace chol::api
