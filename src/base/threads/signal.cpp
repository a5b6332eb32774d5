#include "base/threads/signal.hpp"

#include <ctime>

namespace chol {

int64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

void Signal::wait(uint32_t seen, int64_t spin_nanoseconds) {
  Spin spin;
  const auto changed = [&] { return count() != seen; };
  if (spin_nanoseconds > 0 && spin.until(spin_nanoseconds, changed)) return;
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  if (!changed()) futex_wait(count_, seen);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace chol
