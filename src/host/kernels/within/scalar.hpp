// Element types under special -m flags: the same bits as float, double and std::complex, without
// the standard library's functions.
#pragma once

#include "host/simd/common.hpp"

namespace chol::CHOL_ISA {

template <class R>
struct Complex {
  R re, im;
};

template <class T>
struct ScalarTraits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct ScalarTraits<Complex<R>> {
  using Real = R;
  static constexpr bool is_complex = true;
};
template <class T>
using RealOf = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::is_complex;

/// acc + a * b as the vocabularies' vectors do it: fused where the ISA has that. Contraction by the
/// compiler is not sufficient: GCC first vectorizes the products of complex numbers, which are then
/// rounded.
template <class R>
CHOL_INLINE R multiply_add(R acc, R a, R b) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (sizeof(R) == 8)
    return __builtin_fma(a, b, acc);
  else
    return __builtin_fmaf(a, b, acc);
#else
  return acc + a * b;
#endif
}

CHOL_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
CHOL_INLINE double square_root(double x) { return __builtin_sqrt(x); }

}  // namespace chol::CHOL_ISA
