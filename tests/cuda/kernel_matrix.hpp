// Matrices of a Gaussian kernel for points on a line, whose diagonal blocks and those of the
// factor are ill-conditioned where the points are close.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace chol {

/// Added to the diagonal: the condition number is up to n over it.
template <class Real>
constexpr Real kernel_nugget() {
  return std::numeric_limits<Real>::digits > 30 ? Real(1e-10) : Real(1e-5);
}

/// The lower triangle by columns. Points `from` to `to` are close, the others apart.
template <class Real>
std::vector<long double> kernel_matrix(int n, int from, int to) {
  std::vector<long double> point(n), A(size_t(n) * n);
  for (int i = 1; i < n; ++i)
    point[i] =
        point[i - 1] + (i > from && i < to ? 0.02L + 0.01L * (i * i % 5) : 2 + 0.1L * (i % 7));
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      const long double distance = point[i] - point[j];
      A[size_t(j) * n + i] =
          std::exp(-distance * distance / 2) + (i == j ? kernel_nugget<Real>() : Real(0));
    }
  return A;
}
/// Element (i, j) of it, or of its factor, in the precision of T. Complex elements get phases with
/// which the matrix is Hermitian and has the same condition number.
template <class T, class Real>
T kernel_element(long double a, int i, int j) {
  if constexpr (sizeof(T) == sizeof(Real)) {
    return static_cast<T>(a);
  } else {
    const auto x = a * std::polar(1.0L, 0.7L * (i * i % 11) - 0.7L * (j * j % 11));
    return {static_cast<Real>(x.real()), static_cast<Real>(x.imag())};
  }
}

}  // namespace chol
