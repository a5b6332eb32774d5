#include "support/random.hpp"

#include <cmath>
#include <limits>

#include "base/precisions.h"

namespace chol::test {

template <class T>
Dense<T> hermitian_from_lower(const Dense<Wide<T>>& lower) {
  const int64_t n = lower.rows;
  Dense<T> A(n, n);
  for_each_in_triangle(n, false, [&](int64_t i, int64_t j) {
    const T value = static_cast<T>(lower(i, j));
    A(i, j) = i == j ? T(std::real(value)) : value;
    A(j, i) = conjugate(A(i, j));
  });
  return A;
}

template <class T>
Dense<T> random_dense(int64_t rows, int64_t columns, Random& random) {
  Dense<T> B(rows, columns);
  for (T& value : B.values) value = random.scalar<T>();
  return B;
}

template <class T>
Dense<T> random_spd(int64_t n, Random& random) {
  using W = Wide<T>;
  constexpr int kRank = 4;
  Dense<W> lower(n, n);
  const Dense<W> U = random_dense<W>(n, kRank, random);
  for_each_in_triangle(n, false, [&](int64_t i, int64_t j) {
    W sum = 0.25 * random.scalar<W>();
    for (int r = 0; r < kRank; ++r) sum += U(i, r) * conjugate(U(j, r));
    lower(i, j) = i == j ? W(std::real(sum) + 1 + 0.75 * std::sqrt(static_cast<double>(n))) : sum;
  });
  return hermitian_from_lower<T>(lower);
}

template <class T>
Dense<T> conditioned_spd(int64_t n, double kappa, Random& random) {
  using W = Wide<T>;
  Dense<W> M(n, n);
  for (int64_t i = 0; i < n; ++i)
    M(i, i) = std::pow(kappa, n > 1 ? -static_cast<double>(i) / static_cast<double>(n - 1) : 0.0);
  for (int reflector = 0; reflector < 3; ++reflector) {
    const Dense<W> v = random_dense<W>(n, 1, random);
    double norm = 0;
    for (const W& x : v.values) norm += std::norm(x);
    // M <- H M H with H = I - 2 v v^H / (v^H v), by u = M v and the scalar v^H u.
    std::vector<W> u(static_cast<size_t>(n));
    W vu = 0;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) u[static_cast<size_t>(i)] += M(i, j) * v(j, 0);
    for (int64_t i = 0; i < n; ++i) vu += conjugate(v(i, 0)) * u[static_cast<size_t>(i)];
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        M(i, j) += (-2 / norm) * (u[static_cast<size_t>(i)] * conjugate(v(j, 0)) +
                                  v(i, 0) * conjugate(u[static_cast<size_t>(j)])) +
                   (4 / (norm * norm)) * std::real(vu) * v(i, 0) * conjugate(v(j, 0));
  }
  return hermitian_from_lower<T>(M);
}

template <class T>
Dense<T> hilbert(int64_t n) {
  Dense<Wide<T>> lower(n, n);
  for_each_in_triangle(n, false, [&](int64_t i, int64_t j) {
    Wide<T> value = 1.0 / static_cast<double>(i + j + 1);
    if constexpr (is_complex<T>)
      for (int64_t turn = 0; turn < (i - j) % 4; ++turn) value *= Wide<T>(0, 1);
    lower(i, j) = value;
  });
  return hermitian_from_lower<T>(lower);
}

template <class T>
Dense<T> scaled(const Dense<T>& A, const std::vector<int>& exponents) {
  Dense<T> S = A;
  for (int64_t j = 0; j < A.columns; ++j)
    for (int64_t i = 0; i < A.rows; ++i) {
      const int e = exponents[static_cast<size_t>(i)] + exponents[static_cast<size_t>(j)];
      if constexpr (is_complex<T>)
        S(i, j) = T(std::ldexp(A(i, j).real(), e), std::ldexp(A(i, j).imag(), e));
      else
        S(i, j) = std::ldexp(A(i, j), e);
    }
  return S;
}

template <class T>
Dense<T> graded_spd(int64_t n, Random& random) {
  const double decades = sizeof(RealOf<T>) == 4 ? 15 : 150;
  std::vector<int> exponents(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    // Both ends occur, and neighbours differ as much as they can.
    const double place = i < 2 ? static_cast<double>(i) : random.unit();
    exponents[static_cast<size_t>(i)] = static_cast<int>((2 * place - 1) * decades * 3.3219 / 2);
  }
  return scaled(random_spd<T>(n, random), exponents);
}

template <class T>
Dense<T> denormal_spd(int64_t n, Random& random) {
  const int lowest = std::numeric_limits<RealOf<T>>::min_exponent;
  const std::vector<int> exponents(static_cast<size_t>(n), lowest / 2 - 6);
  return scaled(random_spd<T>(n, random), exponents);
}

#define CHOL_INSTANTIATE_MATRICES(p, T, R)                               \
  template Dense<T> hermitian_from_lower<T>(const Dense<Wide<T>>&);      \
  template Dense<T> random_dense<T>(int64_t, int64_t, Random&);          \
  template Dense<T> random_spd<T>(int64_t, Random&);                     \
  template Dense<T> conditioned_spd<T>(int64_t, double, Random&);        \
  template Dense<T> hilbert<T>(int64_t);                                 \
  template Dense<T> scaled<T>(const Dense<T>&, const std::vector<int>&); \
  template Dense<T> graded_spd<T>(int64_t, Random&);                     \
  template Dense<T> denormal_spd<T>(int64_t, Random&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_MATRICES)
#undef CHOL_INSTANTIATE_MATRICES

}  // namespace chol::test
