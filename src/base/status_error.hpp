// A status as an exception, for functions that return something else.
#pragma once

#include <exception>

#include "base/status.hpp"

namespace chol {

class StatusError : public std::exception {
 public:
  explicit StatusError(const Status& status) : status_(status) {}
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return status_.message(); }

 private:
  Status status_;
};

inline void require(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

}  // namespace chol
