// A reusable mbarrier with which a warp signals its progress to others.
#pragma once

#include <cstdint>

namespace chol::cuda {

/// The lanes of one warp arrive at it once a phase (PTX ISA, mbarrier). Writes by, or visible to,
/// the arriving lanes before are visible to a thread that has waited for the phase. Phases are
/// distinguished by their parity: a phase may be waited for only once the phase before it has
/// completed, and the warp arrives again only after that.
struct ProgressBarrier {
  uint64_t state;

  /// Called by one thread, followed by a barrier before its first use.
  __device__ __forceinline__ void prepare() {
    asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address()) : "memory");
  }
  /// By all lanes of the warp.
  __device__ __forceinline__ void raise(unsigned phase) {
    if (phase > 0) wait(phase - 1);
    asm volatile("{.reg .b64 phase; mbarrier.arrive.shared.b64 phase, [%0];}" ::"r"(address())
                 : "memory");
  }
  __device__ __forceinline__ void wait(unsigned phase) const {
    unsigned is_raised;
    do {
      asm volatile(
          "{.reg .pred p;"
#if __CUDA_ARCH__ >= 900
          "mbarrier.try_wait.parity.shared.b64 p, [%1], %2;"
#else
          "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;"
#endif
          "selp.u32 %0, 1, 0, p;}"
          : "=r"(is_raised)
          : "r"(address()), "r"(phase & 1)
          : "memory");
    } while (!is_raised);
  }

 private:
  __device__ __forceinline__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(this));
  }
};

}  // namespace chol::cuda
