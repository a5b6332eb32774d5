// Traits of the element types s, d, c, z.
#pragma once

#include <complex>
#include <cstdint>

namespace chol {

template <class T>
struct ScalarTraits {
  using Real = T;
  static constexpr bool is_complex = false;
};
template <class R>
struct ScalarTraits<std::complex<R>> {
  using Real = R;
  static constexpr bool is_complex = true;
};

template <class T>
using RealOf = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::is_complex;

/// The letter of the routine names: s, d, c or z.
template <class T>
inline constexpr char precision_letter = is_complex<T> ? (sizeof(RealOf<T>) == 4 ? 'c' : 'z')
                                                       : (sizeof(T) == 4 ? 's' : 'd');

/// Position of a precision's letter in s, d, c, z.
constexpr int precision_index(char letter) {
  return letter == 's' ? 0 : letter == 'd' ? 1 : letter == 'c' ? 2 : 3;
}

/// Floating point operations of one complex multiply-add pair over those of a real one.
template <class T>
inline constexpr double flop_factor = is_complex<T> ? 4.0 : 1.0;

}  // namespace chol
