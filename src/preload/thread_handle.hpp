// The chol handle of each thread, lent to one call at a time.
#pragma once

#include <cstdint>

#include "chol.h"
#include "preload/account.hpp"
#include "preload/original.hpp"

namespace chol::preload {

/// The thread's host handle for the duration of a call. There is none when the thread is inside a
/// call already (a signal handler, or a jump out of one) or memory is out: the original serves
/// then.
class HandleLease {
 public:
  /// @param n order of the matrix: from some on threads are worth setting up.
  HandleLease(int64_t n, Original& original);
  HandleLease(const HandleLease&) = delete;
  HandleLease& operator=(const HandleLease&) = delete;
  ~HandleLease();

  explicit operator bool() const { return handle_ != nullptr; }
  operator chol_handle_t() const { return handle_; }
  /// Where the routine that the lease was taken for has run.
  Place place() const;

 private:
  chol_handle_t handle_ = nullptr;
  bool shares_cores_ = false;
  bool keep_ = true;
};

/// In a child after fork: the other threads' calls are not there.
void forget_other_threads();

}  // namespace chol::preload
