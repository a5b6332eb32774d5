// What kernels of whole warps need of CUDA, for test_block_solve.cpp, test_left_looking.cpp,
// test_small.cpp, test_warp_factor.cpp and test_warp_solve.cpp: the threads of a block are contexts
// of one thread of the host, which run one after the other from barrier to barrier. In which order
// they do is the test's choice: a kernel that leaves something to it is wrong.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __isGlobal(p) true
#define __builtin_assume(truth) static_cast<void>(truth)
// `static` for kernels with arrays of their own; what is allotted at the launch is declared extern.
#ifndef __shared__
#define __shared__
#endif

struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x = 0, y = 0, z = 0, w = 0;
};
struct alignas(16) double2 {
  double x, y;
};
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

namespace chol::cuda {

using std::fma;
using std::max;
using std::min;

extern unsigned char shared[];

/// An asynchronous copy: it happens when somebody waits for it.
struct PendingCopy {
  unsigned char* to;
  const void* from;
  int bytes, zeros;  ///< which follow
};
struct HostThread {
  ucontext_t context;
  jmp_buf place;  ///< where it goes on, once it has begun
  bool begun = false;
  std::vector<char> stack = std::vector<char>(1 << 17);
  std::vector<std::vector<PendingCopy>> groups = std::vector<std::vector<PendingCopy>>(1);
  uint64_t slot = 0;   ///< what it gives to a shuffle
  double operands[2];  ///< what it gives to tensor_multiply()
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

struct HostIndex {
  unsigned x, y = 0;
};
#define blockDim (HostIndex{static_cast<unsigned>(HostBlock::current->threads())})
#define threadIdx (HostIndex{static_cast<unsigned>(HostBlock::running)})
#define blockIdx (HostIndex{static_cast<unsigned>(HostBlock::block)})

inline void __syncwarp() { HostBlock::current->meet(32); }
inline void __syncthreads() { HostBlock::current->meet(HostBlock::current->threads()); }

template <class T>
T __shfl_sync(unsigned, T x, int source, int width = 32) {
  HostBlock& block = *HostBlock::current;
  std::memcpy(&block.self().slot, &x, sizeof x);
  __syncwarp();
  const int lane = HostBlock::running % 32;
  std::memcpy(&x, &block.of_warp(lane / width * width + source % width).slot, sizeof x);
  __syncwarp();
  return x;
}
template <class T, class Combine>
T all_of_warp(T x, Combine&& combine) {
  for (int distance = 16; distance; distance /= 2)
    x = combine(x, __shfl_sync(0, x, HostBlock::running % 32 ^ distance));
  return x;
}
template <class T>
T __reduce_max_sync(unsigned, T x) {
  return all_of_warp(x, [](T a, T b) { return max(a, b); });
}
template <class T>
T __reduce_min_sync(unsigned, T x) {
  return all_of_warp(x, [](T a, T b) { return min(a, b); });
}
inline bool __any_sync(unsigned, bool x) {
  return all_of_warp(x, [](bool a, bool b) { return a || b; });
}
/// Threads of the host take turns at barriers only.
inline int atomicAdd(int* sum, int x) { return std::exchange(*sum, *sum + x); }
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int distance) {
  return __shfl_sync(mask, x, HostBlock::running % 32 ^ distance);
}

}  // namespace chol::cuda
