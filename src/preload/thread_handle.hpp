// The chol handle of each thread, lent to one call at a time.
#pragma once

#include <cstdint>

#include "chol.h"
#include "preload/account.hpp"
#include "preload/original.hpp"

namespace chol::preload {

/// No routine spreads a smaller matrix over threads.
inline constexpr int64_t kLeastThreaded = 48;
/// A larger matrix needs workspace that is worth giving back, against which a new handle is free.
inline constexpr int64_t kMostKept = 2048;

struct ThreadHandle {
  chol_handle_t handle = nullptr;
  bool busy = false;
};
/// Plain data, so that a call reads it without asking whether it was constructed.
extern constinit thread_local ThreadHandle of_this_thread;

/// The thread's host handle for the duration of a call. There is none when the thread is inside a
/// call already (a signal handler, or a jump out of one) or memory is out: the original serves
/// then.
class HandleLease {
 public:
  /// @param n order of the matrix: from some on threads are worth setting up.
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
  /// Where the routine that the lease was taken for has run.
  Place place() const {
    return n_ < kLeastThreaded ? Place::host : place_of_last();  // a small matrix goes nowhere
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

/// In a child after fork: the other threads' calls are not there.
void forget_other_threads();

}  // namespace chol::preload
