// Asynchronous copies from global to shared memory, and their groups.
#pragma once

#include <cstdint>

namespace chol::cuda {

/// Shared-memory address of a pointer, for many copies: kept in a register, since the compiler
/// would compute it for each copy.
__device__ __forceinline__ unsigned shared_address(const void* p) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(p));
  asm("" : "+r"(address));
  return address;
}
/// A pointer p to shared memory, kept in a register: the compiler would read the base address of
/// shared memory in every branch, which delays reads.
template <class T>
__device__ __forceinline__ T* held_in_register(T* p) {
  return static_cast<T*>(__cvta_shared_to_generic(shared_address(p)));
}
/// p + step by an addition that the compiler does not replace by a multiplication with the loop
/// counter.
template <class T>
__device__ __forceinline__ const T* advanced(const T* p, int64_t step) {
  p += step;
  asm("" : "+l"(p));
  return p;
}
/// kBytes of 4, 8 or 16.
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes)
               : "memory");
}
template <int kBytes>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
  copy_async<kBytes>(static_cast<unsigned>(__cvta_generic_to_shared(to)), from);
}
/// kBytes of 4, 8 or 16, and prefetches their 128-byte line to the second-level cache. @tparam
/// kPastFirst bypasses the first-level cache if possible (16 bytes).
template <int kBytes, bool kPastFirst>
__device__ __forceinline__ void copy_async_of_line(void* to, const void* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kPastFirst && kBytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address), "l"(from)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(address), "l"(from),
                 "n"(kBytes)
                 : "memory");
}
/// 16 bytes that are not read again, bypassing the first-level cache.
__device__ __forceinline__ void copy_async_once(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
/// The same, but only the first `bytes` are read and the others become zero.
__device__ __forceinline__ void copy_async_once(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
/// kBytes, of which only the first `bytes` are read and the others become zero.
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
               "r"(bytes)
               : "memory");
}
template <int kBytes>
__device__ __forceinline__ void copy_async(void* to, const void* from, int bytes) {
  copy_async<kBytes>(static_cast<unsigned>(__cvta_generic_to_shared(to)), from, bytes);
}
__device__ __forceinline__ void close_copy_group() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits for this thread's copies except its last `kPending` groups.
template <int kPending>
__device__ __forceinline__ void wait_for_copy_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Barrier of all warps of a block, which may be called at different places of the program, unlike
/// __syncthreads().
template <int kWarps>
__device__ __forceinline__ void meet_from_anywhere() {
  asm volatile("barrier.sync 0, %0;" ::"n"(32 * kWarps) : "memory");
}

__device__ __forceinline__ void prefetch_to_l2(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

}  // namespace chol::cuda
