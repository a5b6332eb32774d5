// Mapping of a precision's letter to a type, and common properties of the four types.
#pragma once

#include <complex>

#include "base/scalar.hpp"

namespace chol::bench {

/// Calls f with a value of the element type that the letter names: f(double{}).
template <class F>
decltype(auto) with_precision(char letter, F&& f) {
  switch (letter) {
    case 's':
      return f(float{});
    case 'c':
      return f(std::complex<float>{});
    case 'z':
      return f(std::complex<double>{});
    default:
      return f(double{});
  }
}

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

}  // namespace chol::bench
