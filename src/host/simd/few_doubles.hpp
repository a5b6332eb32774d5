// One or two doubles of a row, for the vocabularies of x86.
#pragma once

#include <immintrin.h>

#include "host/simd/common.hpp"

namespace chol::CHOL_ISA {

CHOL_INLINE __m128d load_few(const double* p, int64_t count) {
  return count == 2 ? _mm_loadu_pd(p) : _mm_load_sd(p);
}
CHOL_INLINE void store_few(double* p, int64_t count, __m128d a) {
  if (count == 2)
    _mm_storeu_pd(p, a);
  else
    _mm_store_sd(p, a);
}

}  // namespace chol::CHOL_ISA
