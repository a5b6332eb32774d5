// The threads of a block as contexts of one thread of the host, which run one after the other from
// barrier to barrier. The test chooses the order: a kernel whose result depends on it is wrong.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "pending_copy.hpp"
#include "race_detection.hpp"

namespace chol::cuda {

/// Context of a thread.
struct HostContext {
  ucontext_t context;
  void* place[5];  ///< once it has begun
  bool begun = false;
  void* fiber = nullptr;
};

struct HostThread : HostContext {
  std::vector<char> stack = std::vector<char>(1 << 17);
  std::vector<std::vector<PendingCopy>> groups = std::vector<std::vector<PendingCopy>>(1);
  uint64_t slot = 0;     ///< its operand of a shuffle
  uint64_t operands[2];  ///< its operands of tensor_multiply()
  bool done = true;
};

/// Of the threads of a group that have not returned.
struct HostBarrier {
  int expected = 0, here = 0;
  int64_t round = 0;

  CHOL_UNINSTRUMENTED void arrive() {
    ++here;
    go_on();
  }
  CHOL_UNINSTRUMENTED void leave() {
    --expected;
    go_on();
  }

 private:
  CHOL_UNINSTRUMENTED void go_on() {
    if (here == 0 || here < expected) return;
    here = 0;
    ++round;
  }
};

/// One block, or the blocks of a cluster.
class HostBlock {
 public:
  /// @param threads of a block. @param backwards whether its threads run in reverse order.
  HostBlock(int threads, bool backwards, int blocks = 1)
      : count_(threads * blocks), blocks_(blocks), backwards_(backwards) {
    for (int k = 0; k < count_; ++k)
      if (!threads_[k]) threads_[k] = new_thread();
  }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// @param index of the block in its grid, of a cluster of the first one.
  void run(const std::function<void()>& kernel, int index = 0) {
    precede(this);
    run_unseen(kernel, index);
    follow(this);
  }
  /// Barrier of the threads of this group that have not returned. @param orders whether it orders
  /// memory accesses.
  CHOL_UNINSTRUMENTED void meet(int group, bool orders = true) {
    HostBarrier& barrier = barriers_[group / 32][running / group];
    const int64_t round = barrier.round;
    // Double-buffered, so that a thread one round ahead is not counted in this one.
    const char* const place = reinterpret_cast<const char*>(&barrier) + round % 2;
    if (orders) precede(place);
    ++steps_;
    barrier.arrive();
    while (barrier.round == round) give_way();
    if (orders) follow(place);
  }
  /// Barrier of this warp, which does not order memory accesses on a device.
  void exchange() { meet(32, false); }
  /// Lets the other threads run.
  CHOL_UNINSTRUMENTED void give_way() {
    const int self = running;
    switch_context(*threads_[self], scheduler_);
    running = self;
  }
  /// A waiting thread may continue.
  CHOL_UNINSTRUMENTED void note_step() { ++steps_; }
  int threads() const { return count_ / blocks_; }
  unsigned blocks() const { return static_cast<unsigned>(blocks_); }
  /// Indices of the running thread's block in its cluster and of the thread in its block.
  CHOL_UNINSTRUMENTED unsigned rank() const { return static_cast<unsigned>(running / threads()); }
  CHOL_UNINSTRUMENTED unsigned thread() const { return static_cast<unsigned>(running % threads()); }
  CHOL_UNINSTRUMENTED HostThread& self() { return *threads_[running]; }
  CHOL_UNINSTRUMENTED HostThread& of_block(int thread) {
    return *threads_[running / threads() * threads() + thread];
  }
  CHOL_UNINSTRUMENTED HostThread& of_warp(int lane) { return *threads_[running / 32 * 32 + lane]; }

  static inline HostBlock* current = nullptr;
  static inline int running = 0, block = 0;

 private:
  static constexpr int kMostWarps = 32;

  static HostThread* new_thread() {
    auto* const thread = new HostThread;
    thread->fiber = new_fiber();
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack.data();
    thread->context.uc_stack.ss_size = thread->stack.size();
    thread->context.uc_link = nullptr;
    makecontext(&thread->context, run_kernels, 0);
    return thread;
  }
  void run_unseen(const std::function<void()>& kernel, int index) {
    const Unseen unseen;
    current = this;
    block = index;
    kernel_ = &kernel;
    scheduler_.begun = true;
    scheduler_.fiber = fiber_that_runs();
    for (int warps = 1; warps <= count_ / 32; ++warps)
      for (int k = 0; k < kMostWarps / warps; ++k) barriers_[warps][k] = {32 * warps};
    for (int k = 0; k < count_; ++k) threads_[k]->done = false;
    for (int left = count_; left > 0;) {
      const int64_t before = steps_;
      for (int k = 0; k < count_; ++k) {
        running = backwards_ ? count_ - 1 - k : k;
        HostThread& thread = *threads_[running];
        if (thread.done) continue;
        switch_context(scheduler_, thread);
        left -= thread.done ? 1 : 0;
      }
      if (before == steps_) {
        std::printf("deadlock: all threads wait\n");
        std::exit(1);
      }
    }
  }
  /// Main loop of a thread: one kernel after the other.
  CHOL_UNINSTRUMENTED static void run_kernels() {
    for (;;) {
      HostBlock& own = *current;
      HostThread& self = own.self();
      follow(&own);
      own.call_kernel();
      own.leave();
      precede(&own);
      switch_context(self, own.scheduler_);
    }
  }
  void call_kernel() { (*kernel_)(); }
  CHOL_UNINSTRUMENTED void leave() {
    self().done = true;
    ++steps_;
    for (int warps = 1; warps <= count_ / 32; ++warps)
      barriers_[warps][running / (32 * warps)].leave();
  }
  /// By __builtin_longjmp, since swapping contexts takes a system call and ThreadSanitizer treats
  /// setjmp as a jump within a thread. In a separate function, so that no values are in registers
  /// across the jump.
  CHOL_UNINSTRUMENTED __attribute__((noinline)) static void switch_context(HostContext& from,
                                                                           HostContext& to) {
    const bool goes_on = to.begun;
    to.begun = true;
    if (__builtin_setjmp(from.place)) return;
    announce_switch_to(to.fiber);
    if (goes_on) jump(to.place);
    setcontext(&to.context);
  }
  [[noreturn]] CHOL_UNINSTRUMENTED __attribute__((noinline)) static void jump(void** place) {
    __builtin_longjmp(place, 1);
  }

  /// All blocks reuse the same contexts: ThreadSanitizer's time for a barrier grows with the number
  /// of threads ever created.
  static inline HostThread* threads_[32 * kMostWarps] = {};
  int count_, blocks_;
  bool backwards_;
  int64_t steps_ = 0;                                      ///< arrivals and returns
  HostBarrier barriers_[kMostWarps + 1][kMostWarps] = {};  ///< by the warps of a group
  HostContext scheduler_;
  const std::function<void()>* kernel_ = nullptr;
};

}  // namespace chol::cuda
