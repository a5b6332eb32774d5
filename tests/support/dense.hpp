// Full matrices in column-major storage, as used by generators and residuals.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/scalar.hpp"

namespace chol::test {

template <class T>
struct Dense {
  int64_t rows = 0, columns = 0;
  std::vector<T> values;

  Dense() = default;
  Dense(int64_t r, int64_t c) : rows(r), columns(c), values(static_cast<size_t>(r * c)) {}
  T& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i + j * rows)]; }
  const T& operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i + j * rows)];
  }
  const T* column(int64_t j) const { return values.data() + j * rows; }
};

template <class T>
T conjugate(const T& x) {
  if constexpr (is_complex<T>)
    return std::conj(x);
  else
    return x;
}

/// The type that residuals are computed in: double precision for every T.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// f(i, j) for every element of the named triangle, the diagonal included.
template <class F>
void for_each_in_triangle(int64_t n, bool upper, F&& f) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) f(i, j);
}

}  // namespace chol::test
