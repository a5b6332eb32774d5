// The chol handle of each thread, used by one call at a time.
#pragma once

#include <cstdint>

#include "chol.h"
#include "preload/account.hpp"
#include "preload/original.hpp"

namespace chol::preload {

/// No routine uses several threads for a smaller matrix.
inline constexpr int64_t kLeastThreaded = 48;
/// For a larger matrix the workspace is freed; creating a new handle costs little in comparison.
inline constexpr int64_t kMostKept = 2048;

struct ThreadHandle {
  chol_handle_t handle = nullptr;
  bool busy = false;
};
/// Trivially constructible, so that access needs no initialization guard.
extern constinit thread_local ThreadHandle of_this_thread;

/// Acquires the thread's host handle for the duration of a call. Empty when the thread is already
/// inside a call (a signal handler, or after a longjmp out of one) or out of memory: the original
/// is then called.
class HandleLease {
 public:
  /// @param n order of the matrix: threads are set up only for larger ones.
  HandleLease(int64_t n, Original& original) : n_(n) {
    ThreadHandle& mine = of_this_thread;
    if (mine.busy || (!mine.handle && !create())) return;
    mine.busy = true;
    handle_ = mine.handle;
    if (n >= kLeastThreaded) share_cores(original);
  }
  HandleLease(const HandleLease&) = delete;
  HandleLease& operator=(const HandleLease&) = delete;
  ~HandleLease() {
    if (!handle_) return;
    if (n_ >= kLeastThreaded) give_back_cores();
    of_this_thread.busy = false;
    if (n_ > kMostKept) drop();
  }

  explicit operator bool() const { return handle_ != nullptr; }
  operator chol_handle_t() const { return handle_; }
  /// Backend on which the last routine ran.
  Place place() const {
    return n_ < kLeastThreaded ? Place::host
                               : place_of_last();  // a small matrix is never offloaded
  }

 private:
  static bool create();
  static void drop();
  void share_cores(Original& original);
  static void give_back_cores();
  Place place_of_last() const;

  chol_handle_t handle_ = nullptr;
  int64_t n_;
};

/// In a child after fork: calls of other threads no longer exist.
void forget_other_threads();

}  // namespace chol::preload
