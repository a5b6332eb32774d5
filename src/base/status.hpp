// Status of a call inside the library: the public code and what chol_last_error() will say.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "chol.h"

namespace chol {

/// A fixed buffer, so that reporting a failed allocation allocates nothing. The buffer is written
/// and copied only with a message in it: success costs a call on a small matrix nothing.
class Status {
 public:
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

  __attribute__((format(printf, 2, 3))) static Status error(chol_status_t code, const char* format,
                                                            ...) {
    Status status;
    status.code_ = code;
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(status.message_, sizeof status.message_, format, arguments);
    va_end(arguments);
    return status;
  }

  bool ok() const { return code_ == CHOL_STATUS_SUCCESS; }
  chol_status_t code() const { return code_; }
  const char* message() const { return message_; }

 private:
  chol_status_t code_ = CHOL_STATUS_SUCCESS;
  char message_[240];
};

}  // namespace chol
