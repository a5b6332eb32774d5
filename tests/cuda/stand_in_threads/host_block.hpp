// The threads of a block as threads of the host, for ThreadSanitizer to see what a kernel's
// barriers leave unordered. Barriers order what lies before and after them; what lanes exchange by
// instructions orders nothing, as on a device.
#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "pending_copy.hpp"

namespace chol::cuda {

/// Of the threads of a group that have not returned.
class HostBarrier {
 public:
  void expect(int threads) { expected_ = threads; }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const long round = round_;
    ++arrived_;
    if (!go_on()) all_here_.wait(lock, [&] { return round_ != round; });
  }
  void leave() {
    const std::lock_guard<std::mutex> lock(mutex_);
    --expected_;
    go_on();
  }

 private:
  bool go_on() {
    if (arrived_ == 0 || arrived_ < expected_) return false;
    arrived_ = 0;
    ++round_;
    all_here_.notify_all();
    return true;
  }
  std::mutex mutex_;
  std::condition_variable all_here_;
  int expected_ = 0, arrived_ = 0;
  long round_ = 0;
};
/// The same of a warp, and nothing is ordered by it.
class RelaxedBarrier {
 public:
  void wait() {
    const long round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_relaxed) + 1 == 32) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_relaxed);
    } else {
      while (round_.load(std::memory_order_relaxed) == round) sched_yield();
    }
  }

 private:
  std::atomic<int> arrived_{0};
  std::atomic<long> round_{0};
};

struct HostThread {
  std::vector<std::vector<PendingCopy>> groups;
  uint64_t slot = 0;          ///< what it gives to a shuffle
  uint64_t operands[2] = {};  ///< what it gives to tensor_multiply()
};

/// One block.
class HostBlock {
 public:
  HostBlock(int threads, bool) : threads_(threads), exchanges_(threads / 32) {
    for (const int size : {32, 64, 128, threads})
      for (int first = 0; first + size <= threads; first += size) barriers_[{size, first}];
  }
  /// @param index of the block in its grid.
  void run(const std::function<void()>& kernel, int index = 0) {
    current = this;
    block = index;
    for (auto& [group, barrier] : barriers_) barrier.expect(group.first);
    std::vector<std::thread> running_threads;
    for (int k = 0; k < threads(); ++k)
      running_threads.emplace_back([&, k] {
        running = k;
        self().groups.assign(1, {});
        kernel();
        for (auto& [group, barrier] : barriers_)
          if (k / group.first * group.first == group.second) barrier.leave();
      });
    for (std::thread& thread : running_threads) thread.join();
  }
  /// Until all threads of this group of so many that have not returned are here as often.
  void meet(int group) { barriers_.at({group, running / group * group}).wait(); }
  void exchange() { exchanges_[running / 32].wait(); }
  void give_way() { sched_yield(); }
  void note_step() {}
  int threads() const { return static_cast<int>(threads_.size()); }
  HostThread& self() { return threads_[running]; }
  HostThread& of_warp(int lane) { return threads_[running / 32 * 32 + lane]; }

  static inline HostBlock* current = nullptr;
  static inline thread_local int running = 0;
  static inline int block = 0;

 private:
  std::vector<HostThread> threads_;
  std::map<std::pair<int, int>, HostBarrier> barriers_;  ///< by size and first thread of groups
  std::vector<RelaxedBarrier> exchanges_;                ///< of the warps
};

}  // namespace chol::cuda
