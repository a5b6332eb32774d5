// One or two elements of a row, for the vocabularies of x86.
#pragma once

#include <immintrin.h>

#include "host/simd/common.hpp"

namespace chol::CHOL_ISA {

/// Whether a compile-time count is one or two, so that an access of exactly that width can be used.
/// A wider store that crosses 32 bytes takes two cycles, across a line two and a half (Zen 4),
/// masked or not.
CHOL_INLINE bool are_few(int64_t count) {
  return __builtin_constant_p(count) && (count == 1 || count == 2);
}
CHOL_INLINE __m128d load_few(const double* p, int64_t count) {
  return count == 2 ? _mm_loadu_pd(p) : _mm_load_sd(p);
}
CHOL_INLINE void store_few(double* p, int64_t count, __m128d a) {
  if (count == 2)
    _mm_storeu_pd(p, a);
  else
    _mm_store_sd(p, a);
}

CHOL_INLINE __m128 load_few(const float* p, int64_t count) {
  return count == 2 ? _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(p))
                    : _mm_load_ss(p);
}
CHOL_INLINE void store_few(float* p, int64_t count, __m128 a) {
  if (count == 2)
    _mm_storel_pi(reinterpret_cast<__m64*>(p), a);
  else
    _mm_store_ss(p, a);
}

}  // namespace chol::CHOL_ISA
