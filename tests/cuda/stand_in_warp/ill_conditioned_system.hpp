// Systems with ill-conditioned factors, and LAPACK's measure of their solutions.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "kernel_matrix.hpp"
#include "solved_system.hpp"

namespace chol::cuda {

using Wide = std::complex<long double>;

template <class T>
Wide widen(T x) {
  if constexpr (Traits<T>::is_complex)
    return {x.re, x.im};
  else
    return x;
}
template <class T>
T narrow(Wide x) {
  if constexpr (Traits<T>::is_complex)
    return {static_cast<Real<T>>(x.real()), static_cast<Real<T>>(x.imag())};
  else
    return static_cast<T>(x.real());
}

/// The factor of A, times the phases of a Hermitian matrix. @param A of kernel_matrix().
template <class T, bool kSwapped>
void set_factor_of(System<T, kSwapped>& system, std::vector<long double> A) {
  const int n = system.n;
  for (int j = 0; j < n; ++j) {
    long double* const column = &A[size_t(j) * n];
    for (int k = 0; k < j; ++k) {
      const long double* const other = &A[size_t(k) * n];
      for (int i = j; i < n; ++i) column[i] -= other[i] * other[j];
    }
    const long double pivot = std::sqrt(column[j]);
    for (int i = j; i < n; ++i) column[i] /= pivot;
  }
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i)
      system.at(i, j) = kernel_element<T, Real<T>>(A[size_t(j) * n + i], i, j);
}

/// L L^H, both triangles; of swapped storage the conjugate.
template <class T, bool kSwapped>
std::vector<Wide> square_of_factor(System<T, kSwapped>& system) {
  const int n = system.n;
  std::vector<Wide> A(size_t(n) * n);
  for (int k = 0; k < n; ++k)
    for (int j = k; j < n; ++j) {
      const Wide other = std::conj(widen(system.at(j, k)));
      for (int i = j; i < n; ++i) A[size_t(j) * n + i] += widen(system.at(i, k)) * other;
    }
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) A[size_t(i) * n + j] = std::conj(A[size_t(j) * n + i]);
  return A;
}
inline std::vector<Wide> product(const std::vector<Wide>& A, const std::vector<Wide>& x) {
  std::vector<Wide> y(x.size());
  for (size_t j = 0; j < x.size(); ++j)
    for (size_t i = 0; i < x.size(); ++i) y[i] += A[j * x.size() + i] * x[j];
  return y;
}
/// Largest norm1(b - A x) / (norm1(A) norm1(x) eps) of a column, NaN counting as infinite.
template <class T, bool kSwapped>
double lapack_ratio(System<T, kSwapped>& system) {
  const int n = system.n;
  const std::vector<Wide> A = square_of_factor(system);
  long double norm = 0;
  for (int j = 0; j < n; ++j) {
    long double sum = 0;
    for (int i = 0; i < n; ++i) sum += std::abs(A[size_t(j) * n + i]);
    norm = std::max(norm, sum);
  }
  double largest = 0;
  for (int q = 0; q < system.nrhs; ++q) {
    const auto element = [&](const std::vector<T>& from, int i) {
      return widen(conj_if(kSwapped, from[q * system.ldb + i]));
    };
    std::vector<Wide> x(n);
    long double size = 0, error = 0;
    for (int i = 0; i < n; ++i) size += std::abs(x[i] = element(system.X, i));
    const std::vector<Wide> Ax = product(A, x);
    for (int i = 0; i < n; ++i) error += std::abs(element(system.B, i) - Ax[i]);
    const double ratio =
        double(error / (norm * size * std::numeric_limits<Real<T>>::epsilon() / 2));
    largest = ratio <= largest ? largest : std::isnan(ratio) ? HUGE_VAL : ratio;
  }
  return largest;
}

}  // namespace chol::cuda
