// Barriers in shared memory, and release and acquire of flags in device memory.
#pragma once

#include <cstdint>

#include "common/cp_async.cuh"

namespace chol::cuda::persistent {

/// Counts the attempts of a wait: a test build aborts the kernel on an endless wait and reports its
/// cause.
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

/// Lanes that arrive for a warp. The sanitizer's racecheck does not recognize that __syncwarp
/// orders the accesses of other lanes before the arrival of one lane: in a build for it all lanes
/// arrive.
#ifdef CHOL_ALL_LANES_ARRIVE
inline constexpr int kArrivals = 32;
#else
inline constexpr int kArrivals = 1;
#endif

/// An mbarrier. No thread may be two phases behind, and each phase must be waited for before a
/// thread arrives in the next one (PTX ISA, mbarrier).
struct Barrier {
  uint64_t state;

  __device__ __forceinline__ void prepare(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(count) : "memory");
  }
  /// Initializes it for one arrive_warp() of each of so many warps.
  __device__ __forceinline__ void prepare_for_warps(int warps) { prepare(warps * kArrivals); }
  __device__ __forceinline__ void arrive() {
    asm volatile("{.reg .b64 phase; mbarrier.arrive.shared::cta.b64 phase, [%0];}" ::"r"(address())
                 : "memory");
  }
  /// Arrives after all lanes of the warp.
  __device__ __forceinline__ void arrive_warp(int lane) {
    __syncwarp();
    if (lane < kArrivals) arrive();
  }
  /// Arrives, for each lane, when all its copies so far have completed.
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
/// Waits until *p is at least `value`. @return the value.
__device__ __forceinline__ int wait_for(const int* p, int value) {
  Patience patience;
  int now;
  while ((now = load_acquire(p)) < value)
    patience.lose(reinterpret_cast<unsigned long long>(p), value);
  return now;
}

/// Synchronizes two warps at a named barrier.
__device__ __forceinline__ void meet_pair(int barrier) {
  asm volatile("barrier.sync %0, 64;" ::"r"(barrier) : "memory");
}

}  // namespace chol::cuda::persistent
