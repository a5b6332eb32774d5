#include "base/threads/helper_state.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "base/threads/signal.hpp"

namespace chol {

void IdleSpin::grow(int factor) {
  if (now_ns() > busy_until_) nanoseconds_ = std::min(nanoseconds_ * factor, kMost);
}

void IdleSpin::post_came() { grow(2); }

void IdleSpin::post_came_late(int64_t asleep_ns) {
  if (asleep_ns < kMost) grow(4);  // a longer spin would have detected the post
}

void IdleSpin::core_was_lost() {
  nanoseconds_ = kLeast;
  busy_until_ = now_ns() + kBusyNs;
}

bool CoreLosses::any_since_last() {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  const bool any = usage.ru_nivcsw != seen_;
  seen_ = usage.ru_nivcsw;
  return any;
}

void HelperCores::set(const cpu_set_t& cores) {
  all_ = cores;
  moved_ = false;
  sched_setaffinity(0, sizeof all_, &all_);
}

void HelperCores::move_from(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  if (CPU_COUNT(&all_) == 0 && sched_getaffinity(0, sizeof all_, &all_) != 0) return;
  cpu_set_t others = all_;
  CPU_CLR(static_cast<size_t>(cpu), &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) moved_ = true;
}

void HelperCores::allow_all() {
  if (moved_) sched_setaffinity(0, sizeof all_, &all_);
  moved_ = false;
}

}  // namespace chol
