// Common parts of the SIMD vocabularies. Everything that is compiled with special -m flags is in
// the namespace of its ISA and instantiates no std:: template, so that the linker never keeps a
// copy that another machine cannot run.
#pragma once

#include <cstdint>

#ifndef CHOL_ISA
#error "define CHOL_ISA as the namespace of the instruction set before including kernels"
#endif

#define CHOL_INLINE inline __attribute__((always_inline))
/// The same for a lambda, between its parameters and its body, that is called from several places.
#define CHOL_INLINE_LAMBDA __attribute__((always_inline))
#define CHOL_UNROLL _Pragma("GCC unroll 32")

namespace chol::CHOL_ISA {

/// A SIMD register of reals. Each ISA specializes it for float and double.
template <class R>
struct Vec;

template <class R>
inline constexpr R kLargest = R(0);
template <>
inline constexpr float kLargest<float> = 0x1.fffffep+127f;
template <>
inline constexpr double kLargest<double> = 0x1.fffffffffffffp+1023;

/// root = sqrt(x) and reciprocal = 1 / root, both correctly rounded.
template <class V>
CHOL_INLINE void invert_root(V x, V& root, V& reciprocal) {
  root = sqrt(x);
  reciprocal = divide(V::broadcast(1), root);
}

/// For functions that only prefetch: GCC considers them free of effects and removes calls to them.
CHOL_INLINE void keep_prefetches() { __asm__ volatile(""); }

/// Prefetches the lines of `bytes` bytes at p to the first-level cache.
CHOL_INLINE void fetch(const void* p, int64_t bytes) {
  const char* const first = static_cast<const char*>(p);
  const char* line = first - reinterpret_cast<uintptr_t>(first) % 64;
  keep_prefetches();
  for (; line < first + bytes; line += 64) __builtin_prefetch(line, 0, 3);
}

/// The same for lines that will be written: they are invalidated in other cores immediately instead
/// of at the store.
CHOL_INLINE void fetch_to_write(const void* p, int64_t bytes) {
  const char* const first = static_cast<const char*>(p);
  const char* line = first - reinterpret_cast<uintptr_t>(first) % 64;
#if defined(__x86_64__)
  // GCC emits this instruction only if the target option is set.
  for (; line < first + bytes; line += 64) __asm__ volatile("prefetchw %0" ::"m"(*line));
#else
  keep_prefetches();
  for (; line < first + bytes; line += 64) __builtin_prefetch(line, 1, 3);
#endif
}

template <class I>
CHOL_INLINE constexpr I smaller(I a, I b) {
  return a < b ? a : b;
}
template <class I>
CHOL_INLINE constexpr I larger(I a, I b) {
  return a > b ? a : b;
}
CHOL_INLINE constexpr int64_t round_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

}  // namespace chol::CHOL_ISA
