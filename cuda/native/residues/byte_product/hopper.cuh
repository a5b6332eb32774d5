// The instructions of compute capability 9.0a that products of bytes use: barriers, copies of tiles
// by tensor maps, products of warpgroups (PTX ISA, mbarrier, cp.async.bulk.tensor, wgmma).
#pragma once

#include <cuda.h>

#include <cstdint>

namespace chol::cuda::hopper {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ uint32_t rank_in_cluster() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ void synchronize_cluster() {
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
}

/// An mbarrier in shared memory.
struct Barrier {
  uint32_t address;

  __device__ __forceinline__ void init(unsigned arrivals) const {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(arrivals)
                 : "memory");
  }
  __device__ __forceinline__ void expect(unsigned bytes) const {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
  }
  /// At the same barrier of block `rank` of the cluster, after reads of shared memory. Without
  /// release semantics in the cluster, which would wait for all stores of the block.
  __device__ __forceinline__ void arrive_at(uint32_t rank) const {
    asm volatile(
        "{\n"
        ".reg .b32 there;\n"
        "mapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
        "}" ::"r"(address),
        "r"(rank)
        : "memory");
  }
  __device__ __forceinline__ bool is_over(uint32_t parity) const {
    uint32_t done;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(address), "r"(parity)
        : "memory");
    return done != 0;
  }
  /// Aborts the kernel instead of waiting forever.
  __device__ __forceinline__ void wait(uint32_t parity) const {
    if (is_over(parity)) return;
    constexpr int64_t kClocks = int64_t{1} << 33;  // several seconds
    const int64_t start = clock64();
    while (!is_over(parity))
      if (clock64() - start > kClocks) __trap();
  }
};
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Copies a box of a three-dimensional map to the same position in the shared memory of all blocks
/// in `blocks`.
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, Barrier barrier,
                                         int x, int y, int z, uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier.address), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}
__device__ __forceinline__ void copy_box(uint32_t to, const CUtensorMap* map, Barrier barrier,
                                         int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier.address), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ __forceinline__ void prefetch(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

template <int kCount>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}

/// Rows of 128 bytes whose pieces of 16 are permuted by the copy (128-byte swizzle), in groups of
/// eight rows.
__device__ __forceinline__ uint64_t describe_rows(uint32_t address) {
  constexpr uint64_t kGroup = 1024 / 16, kSwizzle128 = 1;
  return (address >> 4 & 0x3fff) | uint64_t{1} << 16 | kGroup << 32 | kSwizzle128 << 62;
}

__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kPending>
__device__ __forceinline__ void await_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

/// D := A B^T + D of 64 and 256 rows of 32 signed bytes; without D where add is 0. Lane l of warp w
/// has (16 w + l / 4 + 8 h, 8 g + 2 (l mod 4) + e) in sums[4 g + 2 h + e].
__device__ __forceinline__ void multiply_bytes(int (&sums)[128], uint64_t a, uint64_t b, int add) {
#define CHOL_FOUR(k) "+r"(sums[k]), "+r"(sums[k + 1]), "+r"(sums[k + 2]), "+r"(sums[k + 3])
#define CHOL_SIXTEEN(k) CHOL_FOUR(k), CHOL_FOUR(k + 4), CHOL_FOUR(k + 8), CHOL_FOUR(k + 12)
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
      "%127}, %128, %129, p;\n"
      "}"
      : CHOL_SIXTEEN(0), CHOL_SIXTEEN(16), CHOL_SIXTEEN(32), CHOL_SIXTEEN(48), CHOL_SIXTEEN(64),
        CHOL_SIXTEEN(80), CHOL_SIXTEEN(96), CHOL_SIXTEEN(112)
      : "l"(a), "l"(b), "r"(add));
#undef CHOL_SIXTEEN
#undef CHOL_FOUR
}

}  // namespace chol::cuda::hopper
