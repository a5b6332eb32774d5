// What a helper thread knows of its surroundings: how long it pays to wait awake, and which cores
// it may use.
#pragma once

#include <sched.h>

#include <cstdint>

namespace chol {

/// How long a helper waits awake for the next post: longer while posts come that soon, for callers
/// that factor one matrix after the other; hardly where others want its core, so that its time
/// slice is fresh when it has work.
class IdleSpin {
 public:
  int64_t nanoseconds() const { return nanoseconds_; }
  void post_came();
  /// @param asleep_ns until the post that came in the end
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

/// Whether the calling thread lost its core to another one since the last question.
class CoreLosses {
 public:
  bool any_since_last();

 private:
  long seen_ = 0;
};

/// Where a helper may run: on the cores of its caller, and off the one that the caller is on.
class HelperCores {
 public:
  bool are(const cpu_set_t& cores) const { return CPU_EQUAL(&all_, &cores); }
  /// The caller's cores, for this call and until another caller has others.
  void set(const cpu_set_t& cores);
  /// Leaves `cpu` for another one of the thread's cores. Does nothing when there is no other.
  void move_from(int cpu);
  /// The cores as they were before.
  void allow_all();

 private:
  bool moved_ = false;
  cpu_set_t all_{};
};

}  // namespace chol
