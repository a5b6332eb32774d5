// A handle that is destroyed at the end of its scope.
#pragma once

#include <gtest/gtest.h>

#include "chol.h"

namespace chol::test {

/// Whether a backend is available; otherwise chol_last_error(nullptr) has the reason.
inline bool is_here(chol_backend_t backend) {
  chol_handle_t handle = nullptr;
  const bool made = chol_create_on(&handle, backend, 0, nullptr) == CHOL_STATUS_SUCCESS;
  chol_destroy(handle);
  return made;
}

class Handle {
 public:
  explicit Handle(chol_backend_t backend = CHOL_BACKEND_HOST, int threads = 0) {
    const chol_status_t made = chol_create_on(&handle_, backend, 0, nullptr);
    EXPECT_EQ(made, CHOL_STATUS_SUCCESS) << chol_last_error(nullptr);
    EXPECT_EQ(chol_set_num_threads(handle_, threads), CHOL_STATUS_SUCCESS);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { EXPECT_EQ(chol_destroy(handle_), CHOL_STATUS_SUCCESS); }

  operator chol_handle_t() const { return handle_; }
  const char* last_error() const { return chol_last_error(handle_); }

 private:
  chol_handle_t handle_ = nullptr;
};

}  // namespace chol::test
