// A counter of changes that threads wait on: a short spin, then a futex.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/futex.hpp"

namespace chol {

/// Spins for a limited time. Reports whether the thread lost its core meanwhile: on a busy machine
/// spinning delays the threads on which it waits.
class Spin {
 public:
  /// Spins until ready() or for about `nanoseconds`. Returns ready().
  template <class Ready>
  bool until(int64_t nanoseconds, Ready&& ready);
  bool was_preempted() const { return was_preempted_; }

 private:
  bool was_preempted_ = false;
};

class Signal {
 public:
  static constexpr int kAll = INT32_MAX;

  uint32_t count() const { return count_.load(std::memory_order_seq_cst); }

  /// Counts a change that was made before the call, and wakes at most `sleepers` threads.
  void raise(int sleepers) {
    count_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) futex_wake(count_, sleepers);
  }

  /// Returns after a change since `seen` was read, or spuriously. A thread that reads count()
  /// before it tests its condition cannot miss a change.
  void wait(uint32_t seen, int64_t spin_nanoseconds);

  /// After fork() the threads that slept on this counter do not exist.
  void forget_sleepers() { sleepers_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> count_{0};
  std::atomic<int> sleepers_{0};
};

/// Nanoseconds of a monotonic clock.
int64_t now_ns();

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Ready>
bool Spin::until(int64_t nanoseconds, Ready&& ready) {
  constexpr int kChecksAtATime = 32;           // between two readings of the clock
  constexpr int64_t kLongestCheckNs = 100000;  // a core never takes that long for them
  int64_t before = now_ns();
  const int64_t end = before + nanoseconds;
  for (;;) {
    for (int check = 0; check < kChecksAtATime; ++check) {
      if (ready()) return true;
      relax();
    }
    const int64_t now = now_ns();
    was_preempted_ = was_preempted_ || now - before > kLongestCheckNs;
    if (now >= end || was_preempted_) return ready();
    before = now;
  }
}

}  // namespace chol
