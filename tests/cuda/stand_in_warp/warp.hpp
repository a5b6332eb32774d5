// CUDA functions for kernels of whole warps, on the host. host_block.hpp describes the threads of a
// block.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "host_block.hpp"

#define __device__
#define __host__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __isGlobal(p) true
#define __builtin_assume(truth) static_cast<void>(truth)
// `static` for arrays in kernels; dynamic shared memory is declared extern.
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
template <class T>
T __ldcs(const T* p) {
  return *p;
}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

namespace chol::cuda {

using std::fma;
using std::max;
using std::min;

extern unsigned char shared[];

struct HostIndex {
  unsigned x, y = 0, z = 0;
};
#define blockDim (HostIndex{static_cast<unsigned>(HostBlock::current->threads())})
#define threadIdx (HostIndex{HostBlock::current->thread()})
#define blockIdx (HostIndex{static_cast<unsigned>(HostBlock::block) + HostBlock::current->rank()})

/// Tests run the blocks along x only.
#define gridDim (HostIndex{1, 1, 1})

inline void __syncwarp() { HostBlock::current->meet(32); }
inline void __syncthreads() { HostBlock::current->meet(HostBlock::current->threads()); }

/// Exchange of values between all lanes of a warp, without ordering of memory accesses.
template <class T>
void put_relaxed(uint64_t& place, T x) {
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  std::atomic_ref<uint64_t>(place).store(bits, std::memory_order_relaxed);
}
template <class T>
T get_relaxed(uint64_t& place) {
  const uint64_t bits = std::atomic_ref<uint64_t>(place).load(std::memory_order_relaxed);
  T x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

template <class T>
T __shfl_sync(unsigned, T x, int source, int width = 32) {
  HostBlock& block = *HostBlock::current;
  put_relaxed(block.self().slot, x);
  block.exchange();
  const int lane = HostBlock::running % 32;
  x = get_relaxed<T>(block.of_warp(lane / width * width + source % width).slot);
  block.exchange();
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
inline unsigned __ballot_sync(unsigned, bool x) {
  return all_of_warp(x ? 1u << HostBlock::running % 32 : 0u,
                     [](unsigned a, unsigned b) { return a | b; });
}
inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
/// Threads of the host take turns at barriers only.
inline int atomicAdd(int* sum, int x) {
  const Unseen unseen;
  return std::exchange(*sum, *sum + x);
}
inline int atomicMin(int* least, int x) {
  const Unseen unseen;
  return std::exchange(*least, min(*least, x));
}
inline int __syncthreads_or(int x) {
  HostBlock& block = *HostBlock::current;
  put_relaxed(block.self().slot, x);
  __syncthreads();
  int any = 0;
  for (int k = 0; k < block.threads(); ++k) any |= get_relaxed<int>(block.of_block(k).slot);
  __syncthreads();
  return any;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T x, int distance) {
  return __shfl_sync(mask, x, HostBlock::running % 32 ^ distance);
}

}  // namespace chol::cuda
