// C ABI: handle, status and options.
#include "api/check.hpp"
#include "api/entry.hpp"
#include "api/named_devices.hpp"
#include "base/environment.hpp"
#include "base/preloaded.hpp"

namespace chol::api {

static_assert(Status::kSuccess == CHOL_STATUS_SUCCESS);
static_assert(Status::kAllocFailed == CHOL_STATUS_ALLOC_FAILED);
static_assert(Status::kNotSupported == CHOL_STATUS_NOT_SUPPORTED);
static_assert(Status::kDeviceError == CHOL_STATUS_DEVICE_ERROR);

Status& thread_error() {
  thread_local Status error;
  return error;
}

namespace {

/// Under the preload the default is used instead, and the preload reports it.
Status check_environment() {
  if (is_preloaded()) {
    chol_preload_tell_environment();
    return Status::success();
  }
  for (const Misreading& misreading : misreadings())
    if (!misreading.variable->of_preload_alone)
      return Status::error(CHOL_STATUS_INVALID_VALUE, "%s", misreading.sentence);
  return Status::success();
}

/// Creates a handle and opens its backends with open(handle); returns the handle on success.
template <class Open>
chol_status_t create(chol_handle_t* handle, const char* function, Open&& open) noexcept {
  const Status status = guarded(function, [&]() -> Status {
    Status checked = check(function, {array("handle", handle, true)});
    if (!checked.ok()) return checked;
    *handle = nullptr;
    checked = check_environment();
    if (!checked.ok()) return checked;
    auto made = std::make_unique<chol_handle_s>();
    Status opened = open(*made);
    if (opened.ok()) *handle = made.release();
    return opened;
  });
  if (!status.ok()) thread_error() = status;
  return static_cast<chol_status_t>(status.code());
}

Status check_devices(chol_backend_t backend, int device_count, const int* devices) {
  static constexpr const char* kFunction = "chol_create_on";
  if (backend != CHOL_BACKEND_HOST && backend != CHOL_BACKEND_CUDA)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: backend = %d, must be CHOL_BACKEND_HOST (0) or CHOL_BACKEND_CUDA (1)",
                         kFunction, static_cast<int>(backend));
  if (backend == CHOL_BACKEND_HOST && device_count != 0)
    return Status::error(CHOL_STATUS_INVALID_VALUE,
                         "%s: device_count = %d, must be 0 for the host backend", kFunction,
                         device_count);
  return check(kFunction, {at_least("device_count", device_count, 0),
                           array("devices", devices, device_count > 0)});
}

}  // namespace
}  // namespace chol::api

using namespace chol;
using namespace chol::api;

extern "C" {

chol_status_t chol_create(chol_handle_t* handle) {
  return create(handle, "chol_create", [](chol_handle_s& made) { return made.open_all(); });
}

chol_status_t chol_create_on(chol_handle_t* handle, chol_backend_t backend, int device_count,
                             const int* devices) {
  return create(handle, "chol_create_on", [&](chol_handle_s& made) {
    Status status = check_devices(backend, device_count, devices);
    return status.ok() ? made.open_one(backend, device_count, devices) : status;
  });
}

chol_status_t chol_destroy(chol_handle_t handle) {
  if (!handle) return CHOL_STATUS_SUCCESS;
  if (!is_valid(handle)) return enter(handle, "chol_destroy", [](auto&) { return Status(); });
  delete handle;
  return CHOL_STATUS_SUCCESS;
}

const char* chol_status_string(chol_status_t status) {
  static constexpr const char* kNames[] = {
      "CHOL_STATUS_SUCCESS",        "CHOL_STATUS_INVALID_VALUE", "CHOL_STATUS_INVALID_HANDLE",
      "CHOL_STATUS_ALLOC_FAILED",   "CHOL_STATUS_NOT_SUPPORTED", "CHOL_STATUS_NO_DEVICE",
      "CHOL_STATUS_DEVICE_ERROR",   "CHOL_STATUS_INTERNAL",      "CHOL_STATUS_CANCELLED",
      "CHOL_STATUS_CALLBACK_FAILED"};
  const auto index = static_cast<size_t>(status);
  return index < std::size(kNames) ? kNames[index] : "unknown chol_status_t";
}

const char* chol_last_error(chol_handle_t handle) {
  return (is_valid(handle) ? handle->last_error : thread_error()).message();
}

chol_status_t chol_version(int* major, int* minor, int* patch) {
  if (major) *major = CHOL_VERSION_MAJOR;
  if (minor) *minor = CHOL_VERSION_MINOR;
  if (patch) *patch = CHOL_VERSION_PATCH;
  return CHOL_STATUS_SUCCESS;
}

chol_status_t chol_set_num_threads(chol_handle_t handle, int threads) {
  return enter(handle, "chol_set_num_threads", [&](chol_handle_s& h) {
    Status status = check("chol_set_num_threads", {at_least("threads", threads, 0),
                                                   at_most("threads", threads, kMostThreads)});
    if (status.ok()) h.requested_threads = threads;
    return status;
  });
}

chol_status_t chol_get_num_threads(chol_handle_t handle, int* threads) {
  return enter(handle, "chol_get_num_threads", [&](chol_handle_s& h) {
    Status status = check("chol_get_num_threads", {array("threads", threads, true)});
    routine::BackendSlot* host = h.slot(CHOL_BACKEND_HOST);
    if (status.ok()) *threads = host ? h.threads(*host->backend) : 1;
    return status;
  });
}

chol_status_t chol_set_stream(chol_handle_t handle, void* cuda_stream) {
  return enter(handle, "chol_set_stream", [&](chol_handle_s& h) {
    routine::BackendSlot* const slot = h.slot(CHOL_BACKEND_CUDA);
    if (!slot)
      return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                           "chol_set_stream: the handle has no CUDA backend");
    if (h.has_several_devices())
      return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                           "chol_set_stream: the handle has several devices, each has its own "
                           "stream (chol_set_device_stream)");
    slot->stream = cuda_stream;
    return Status();
  });
}

chol_status_t chol_set_device_stream(chol_handle_t handle, int which, void* cuda_stream) {
  return enter(handle, "chol_set_device_stream", [&](chol_handle_s& h) {
    const Status status = check_named_device("chol_set_device_stream", h, which);
    if (status.ok()) h.named_devices()[static_cast<size_t>(which)]->stream = cuda_stream;
    return status;
  });
}

chol_status_t chol_set_device_workspace(chol_handle_t handle, int which, void* memory,
                                        size_t bytes) {
  static constexpr const char* kFunction = "chol_set_device_workspace";
  return enter(handle, kFunction, [&](chol_handle_s& h) {
    Status status = check_named_device(kFunction, h, which);
    if (status.ok()) status = check(kFunction, {array("memory", memory, bytes > 0)});
    if (!status.ok()) return status;
    routine::BackendSlot& slot = *h.named_devices()[static_cast<size_t>(which)];
    if (bytes > 0) status = check_on_device(kFunction, "memory", memory, *slot.backend);
    if (status.ok()) slot.set_user_workspace(memory, bytes);
    return status;
  });
}

chol_status_t chol_set_math_mode(chol_handle_t handle, chol_math_mode_t mode) {
  return enter(handle, "chol_set_math_mode", [&](chol_handle_s& h) {
    if (mode != CHOL_MATH_IEEE && mode != CHOL_MATH_FAST && mode != CHOL_MATH_TENSOR)
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "chol_set_math_mode: mode = %d, must be CHOL_MATH_IEEE (0), "
                           "CHOL_MATH_FAST (1) or CHOL_MATH_TENSOR (2)",
                           static_cast<int>(mode));
    h.math_mode = mode;
    return Status();
  });
}

chol_status_t chol_set_offload(chol_handle_t handle, chol_offload_t offload) {
  return enter(handle, "chol_set_offload", [&](chol_handle_s& h) {
    if (offload != CHOL_OFFLOAD_NEVER && offload != CHOL_OFFLOAD_AUTO &&
        offload != CHOL_OFFLOAD_ALWAYS)
      return Status::error(CHOL_STATUS_INVALID_VALUE,
                           "chol_set_offload: offload = %d, must be CHOL_OFFLOAD_NEVER (0), "
                           "CHOL_OFFLOAD_AUTO (1) or CHOL_OFFLOAD_ALWAYS (2)",
                           static_cast<int>(offload));
    if (!h.slot(CHOL_BACKEND_HOST))
      return Status::error(CHOL_STATUS_NOT_SUPPORTED,
                           "chol_set_offload: the handle has no host backend");
    h.offload = offload;
    return Status();
  });
}

chol_status_t chol_last_backend(chol_handle_t handle, chol_backend_t* backend) {
  return enter(handle, "chol_last_backend", [&](chol_handle_s& h) {
    Status status = check("chol_last_backend", {array("backend", backend, true)});
    if (status.ok()) *backend = h.last_backend;
    return status;
  });
}

chol_status_t chol_set_workspace(chol_handle_t handle, void* memory, size_t bytes) {
  return enter(handle, "chol_set_workspace", [&](chol_handle_s& h) {
    Status status = check("chol_set_workspace", {array("memory", memory, bytes > 0)});
    if (!status.ok()) return status;
    const routine::Handle::NamedArray arrays[] = {{"memory", memory}};
    routine::BackendSlot* slot = nullptr;
    status = h.slot_for(arrays, 1, "chol_set_workspace", &slot);
    if (status.ok()) slot->set_user_workspace(memory, bytes);
    return status;
  });
}

chol_status_t chol_query_workspace(chol_handle_t handle, size_t* bytes) {
  return enter(handle, "chol_query_workspace", [&](chol_handle_s& h) {
    h.workspace_need = bytes;
    if (bytes) *bytes = 0;
    return Status();
  });
}

chol_status_t chol_backend_name(chol_handle_t handle, chol_backend_t backend, const char** name) {
  return enter(handle, "chol_backend_name", [&](chol_handle_s& h) {
    Status status = check("chol_backend_name", {array("name", name, true)});
    if (!status.ok()) return status;
    routine::BackendSlot* slot = h.slot(backend);
    if (!slot)
      return Status::error(CHOL_STATUS_NO_DEVICE, "chol_backend_name: the handle has no backend %d",
                           static_cast<int>(backend));
    *name = slot->backend->name();
    return Status();
  });
}

}  // extern "C"
