// Asynchronous copies from global to shared memory, and their groups.
#pragma once

#include <cstdint>

namespace chol::cuda {

/// Where a pointer points to in shared memory, for many copies: held in a register, where the
/// compiler would work it out for each.
__device__ __forceinline__ unsigned shared_address(const void* p) {
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(p));
  asm("" : "+r"(address));
  return address;
}
/// p, of shared memory, in a register: the compiler would ask for where this memory begins in every
/// branch, and reads would wait for the answer.
template <class T>
__device__ __forceinline__ T* held_in_register(T* p) {
  return static_cast<T*>(__cvta_shared_to_generic(shared_address(p)));
}
/// p + step by a sum, where the compiler would see a product of the loop's count.
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
/// kBytes of 4, 8 or 16, and the line of memory that they are part of is on its way to the
/// second-level cache. @tparam kPastFirst past the first-level one, where that can be: 16 bytes.
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
/// 16 bytes that nobody reads again: past the first-level cache.
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
/// Waits for this thread's copies, but for its last `kPending` groups.
template <int kPending>
__device__ __forceinline__ void wait_for_copy_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// All warps of a block, each wherever in the program it is: __syncthreads() wants all at one
/// place.
template <int kWarps>
__device__ __forceinline__ void meet_from_anywhere() {
  asm volatile("barrier.sync 0, %0;" ::"n"(32 * kWarps) : "memory");
}

__device__ __forceinline__ void prefetch_to_l2(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

}  // namespace chol::cuda
