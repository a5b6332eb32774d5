// The conjugate of an element of any type.
#pragma once

#include <complex>

#include "base/scalar.hpp"

namespace chol::host {

template <class T>
T conjugate(const T& x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

}  // namespace chol::host
