// Barriers in shared memory and flags in device memory.
#pragma once

#include <cstdint>

#include "batched/async_copy.cuh"
#include "native/persistent/schedule.hpp"

namespace chol::cuda::persistent {

/// Counts what a wait has tried: a build for tests ends the kernel when it never ends, and says
/// what it waited for.
#ifdef CHOL_WAIT_LIMIT
__device__ unsigned long long* lost_wait;
struct Patience {
  int tries = 0;
  __device__ __forceinline__ void lose(unsigned long long what, int value) {
    if (++tries < CHOL_WAIT_LIMIT) return;
    lost_wait[0] = what;
    lost_wait[1] = value;
    lost_wait[2] = blockIdx.x;
    lost_wait[3] = threadIdx.x;
    __threadfence_system();
    asm volatile("trap;");
  }
};
#else
struct Patience {
  __device__ __forceinline__ void lose(unsigned long long, int) {}
};
#endif

/// An mbarrier. Nobody may be two phases behind.
struct Barrier {
  uint64_t state;

  __device__ __forceinline__ void prepare(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(count) : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("{.reg .b64 phase; mbarrier.arrive.shared::cta.b64 phase, [%0];}" ::"r"(address())
                 : "memory");
  }
  /// By one lane, when all lanes of the warp are here.
  __device__ __forceinline__ void arrive_warp(int lane) {
    __syncwarp();
    if (lane == 0) arrive();
  }
  /// By each lane, when the copies are there that it has asked for so far.
  __device__ __forceinline__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address())
                 : "memory");
  }
  __device__ __forceinline__ void wait(unsigned parity) const {
    Patience patience;
    unsigned ended;
    do {
      patience.lose(address(), static_cast<int>(parity));
      asm volatile(
          "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
          "selp.u32 %0, 1, 0, p;}"
          : "=r"(ended)
          : "r"(address()), "r"(parity)
          : "memory");
    } while (!ended);
    __syncwarp();
  }

 private:
  __device__ __forceinline__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(this));
  }
};

__device__ __forceinline__ int load_acquire(const int* p) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(int* p, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ __forceinline__ void add_release(int* p, int value) {
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
/// Waits until *p is at least `value`. @return what it is.
__device__ __forceinline__ int wait_for(const int* p, int value) {
  Patience patience;
  int now;
  while ((now = load_acquire(p)) < value)
    patience.lose(reinterpret_cast<unsigned long long>(p), value);
  return now;
}

/// The flags of a call, each in a line of its own.
struct Flags {
  static constexpr int kApart = kFlagsApart;
  int* first;
  int rows, columns;

  /// Blocks that have begun: the first is the chain.
  __device__ int* started() const { return first; }
  __device__ int* next_task() const { return first + kApart; }
  /// Finished tiles of a tile row, each counted once by each warp of a group.
  __device__ int* finished(int row) const { return first + kApart * (2 + row); }
  /// Block columns of a diagonal tile that are published.
  __device__ int* published(int column) const { return first + kApart * (2 + rows + column); }
  /// Warps that have written their part of what a step of the chain begins with.
  __device__ int* prepared(int column) const {
    return first + kApart * (2 + rows + columns + column);
  }
  /// The same of block column p, but the last, of the tile to the left that a step takes.
  __device__ int* left(int column, int p) const {
    return first + kApart * (2 + rows + 2 * columns + column) + p;
  }
};

}  // namespace chol::cuda::persistent
