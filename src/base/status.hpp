// Status of a call inside the library: the public code and what chol_last_error() will say. The
// code is an int here, so that kernels do not depend on chol.h and need not be recompiled when a
// comment there changes.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace chol {

/// A fixed buffer, so that reporting a failed allocation allocates nothing. The buffer is written
/// and copied only with a message in it: success costs a call on a small matrix nothing.
class Status {
 public:
  /// The codes of chol.h that kernels use, with the same values (api/handle.cpp compares them).
  static constexpr int kSuccess = 0, kAllocFailed = 3, kNotSupported = 4, kDeviceError = 6;

  Status() { message_[0] = '\0'; }
  Status(const Status& other) { *this = other; }
  Status& operator=(const Status& other) {
    if (this == &other) return *this;
    code_ = other.code_;
    message_[0] = '\0';
    if (!ok()) std::memcpy(message_, other.message_, sizeof message_);
    return *this;
  }
  ~Status() = default;
  static Status success() { return {}; }

  __attribute__((format(printf, 2, 3))) static Status error(int code, const char* format, ...) {
    Status status;
    status.code_ = code;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(status.message_, sizeof status.message_, format, arguments);
    va_end(arguments);
    return status;
  }

  bool ok() const { return code_ == kSuccess; }
  /// A chol_status_t.
  int code() const { return code_; }
  const char* message() const { return message_; }

 private:
  int code_ = kSuccess;
  char message_[240];
};

}  // namespace chol
