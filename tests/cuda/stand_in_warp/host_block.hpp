// The threads of a block as contexts of one thread of the host, which run one after the other from
// barrier to barrier. In which order they do is the test's choice: a kernel that leaves something
// to it is wrong.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <vector>

#include "pending_copy.hpp"

namespace chol::cuda {

struct HostThread {
  ucontext_t context;
  jmp_buf place;  ///< where it goes on, once it has begun
  bool begun = false;
  std::vector<char> stack = std::vector<char>(1 << 17);
  std::vector<std::vector<PendingCopy>> groups = std::vector<std::vector<PendingCopy>>(1);
  uint64_t slot = 0;     ///< what it gives to a shuffle
  uint64_t operands[2];  ///< what it gives to tensor_multiply()
  bool done = false;
};

/// One block.
class HostBlock {
 public:
  HostBlock(int threads, bool backwards) : threads_(threads), backwards_(backwards) {}

  /// @param index of the block in its grid.
  void run(const std::function<void()>& kernel, int index = 0) {
    current = this;
    block = index;
    kernel_ = &kernel;
    arrivals_.clear();
    for (HostThread& t : threads_) {
      t.begun = t.done = false;
      getcontext(&t.context);
      t.context.uc_stack.ss_sp = t.stack.data();
      t.context.uc_stack.ss_size = t.stack.size();
      t.context.uc_link = nullptr;
      makecontext(&t.context, enter, 0);
    }
    const int count = static_cast<int>(threads_.size());
    for (int left = count; left > 0;) {
      const int64_t before = steps_;
      for (int k = 0; k < count; ++k) {
        running = backwards_ ? count - 1 - k : k;
        if (threads_[running].done) continue;
        go_on(threads_[running]);
        left -= threads_[running].done ? 1 : 0;
      }
      if (before == steps_) {
        std::printf("threads wait for what never comes\n");
        std::exit(1);
      }
    }
  }
  /// Until all threads of this group of so many that have not returned are here as often.
  void meet(int group) {
    std::vector<int>& arrived = arrivals_[group];
    arrived.resize(threads_.size());
    ++steps_;
    const int mine = ++arrived[running], first = running / group * group, end = first + group;
    const auto all_here = [&] {
      for (int k = first; k < end; ++k)
        if (!threads_[k].done && arrived[k] < mine) return false;
      return true;
    };
    while (!all_here()) give_way();
  }
  /// Until all of this warp are here, which orders nothing on a device.
  void exchange() { meet(32); }
  /// Lets the other threads run.
  void give_way() {
    const int self = running;
    if (_setjmp(threads_[self].place) == 0) _longjmp(scheduler_, 1);
    running = self;
  }
  /// Somebody who waits may go on.
  void note_step() { ++steps_; }
  int threads() const { return static_cast<int>(threads_.size()); }
  HostThread& self() { return threads_[running]; }
  HostThread& of_warp(int lane) { return threads_[running / 32 * 32 + lane]; }

  static inline HostBlock* current = nullptr;
  static inline int running = 0, block = 0;

 private:
  static void enter() {
    (*current->kernel_)();
    current->threads_[running].done = true;
    ++current->steps_;
    _longjmp(current->scheduler_, 1);
  }
  /// Until the thread gives way or is done. By jumps, since to switch contexts takes a system call,
  /// but for the first step into one. Kept apart: what jumps over this may not be in registers.
  __attribute__((noinline)) void go_on(HostThread& thread) {
    if (_setjmp(scheduler_) != 0) return;
    if (thread.begun) _longjmp(thread.place, 1);
    thread.begun = true;
    setcontext(&thread.context);
  }
  std::vector<HostThread> threads_;
  bool backwards_;
  int64_t steps_ = 0;                         ///< arrivals and returns
  std::map<int, std::vector<int>> arrivals_;  ///< by the size of groups
  jmp_buf scheduler_;
  const std::function<void()>* kernel_ = nullptr;
};

}  // namespace chol::cuda
