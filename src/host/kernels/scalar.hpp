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

}  // namespace chol::CHOL_ISA
