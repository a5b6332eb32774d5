// Rounding mode and treatment of subnormal numbers, which are set per thread: helpers adopt those
// of their caller, so that the bits do not depend on the thread that executes a task.
#pragma once

#include <cstdint>

namespace chol {

#if defined(__x86_64__)
inline uint64_t floating_point_mode() {
  constexpr uint32_t kStatusFlags = 0x3f;  // exception flags are not part of the mode
  return __builtin_ia32_stmxcsr() & ~kStatusFlags;
}
inline void set_floating_point_mode(uint64_t mode) {
  __builtin_ia32_ldmxcsr(static_cast<uint32_t>(mode));
}
#elif defined(__aarch64__)
inline uint64_t floating_point_mode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void set_floating_point_mode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
inline uint64_t floating_point_mode() { return 0; }
inline void set_floating_point_mode(uint64_t) {}
#endif

}  // namespace chol
