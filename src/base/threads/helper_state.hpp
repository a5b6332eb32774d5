// State of a helper thread: how long it spins for work, and which cores it may use.
#pragma once

#include <sched.h>

#include <cstdint>

namespace chol {

/// Spin time of a helper that waits for the next post. It increases while posts arrive within that
/// time, for callers that factor one matrix after the other. It is very short if other threads use
/// the core, so that the helper's time slice is unused when work arrives.
class IdleSpin {
 public:
  int64_t nanoseconds() const { return nanoseconds_; }
  void post_came();
  /// @param asleep_ns time from falling asleep to the next post
  void post_came_late(int64_t asleep_ns);
  void post_did_not_come() { shrink(); }
  void core_was_lost();

 private:
  static constexpr int64_t kLeast = 5000, kMost = 2000000;
  static constexpr int64_t kBusyNs = 50000000;
  void shrink() { nanoseconds_ = nanoseconds_ / 2 > kLeast ? nanoseconds_ / 2 : kLeast; }
  void grow(int factor);
  int64_t nanoseconds_ = kLeast;
  int64_t busy_until_ = 0;
};

/// Whether the calling thread lost its core to another one since the last call.
class CoreLosses {
 public:
  bool any_since_last();

 private:
  long seen_ = 0;
};

/// Placement of a helper: on the cores of its caller, except the one on which the caller runs.
class HelperCores {
 public:
  bool are(const cpu_set_t& cores) const { return CPU_EQUAL(&all_, &cores); }
  /// Sets the caller's cores, until a caller with other cores follows.
  void set(const cpu_set_t& cores);
  /// Moves from `cpu` to another of the thread's cores, if there is one.
  void move_from(int cpu);
  /// Restores the previous cores.
  void allow_all();

 private:
  bool moved_ = false;
  cpu_set_t all_{};
};

}  // namespace chol
