// Entry points of the library: check the handle, catch every exception, keep the last error.
#pragma once

#include <exception>
#include <new>

#include "base/status_error.hpp"
#include "routine/handle.hpp"

struct chol_handle_s : chol::routine::Handle {};

namespace chol::api {

/// What chol_last_error(NULL) returns: the last failure of this thread that no handle could store.
Status& thread_error();

inline bool is_valid(chol_handle_t handle) {
  return handle && handle->magic == routine::Handle::kMagic;
}

/// Runs body() and converts its status, or an exception, to the status code of the C API.
template <class Body>
Status guarded(const char* function, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::error(CHOL_STATUS_ALLOC_FAILED, "%s: out of memory", function);
  } catch (const StatusError& error) {
    return Status::error(error.status().code(), "%s: %s", function, error.what());
  } catch (const std::exception& error) {
    return Status::error(CHOL_STATUS_INTERNAL, "%s: %s", function, error.what());
  } catch (...) {
    return Status::error(CHOL_STATUS_INTERNAL, "%s: unknown exception", function);
  }
}

/// A call on a handle: body(handle) gives the status.
template <class Body>
chol_status_t enter(chol_handle_t handle, const char* function, Body&& body) noexcept {
  if (!is_valid(handle)) {
    thread_error() =
        Status::error(CHOL_STATUS_INVALID_HANDLE,
                      "%s: handle is NULL or was destroyed, must come from chol_create", function);
    return CHOL_STATUS_INVALID_HANDLE;
  }
  const Status status = guarded(function, [&] { return body(*handle); });
  if (!status.ok()) handle->last_error = status;
  return static_cast<chol_status_t>(status.code());
}

}  // namespace chol::api

/// Defines the function of one precision: chol_ + letter + name with its parameters, the handle
/// first, which calls run(handle, function, the rest).
#define CHOL_ENTRY(p, name, parameters, run, ...)      \
  extern "C" chol_status_t chol_##p##name parameters { \
    return run(handle, "chol_" #p #name, __VA_ARGS__); \
  }
