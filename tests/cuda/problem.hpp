// Random Hermitian positive definite batches on the host, and LAPACK's residuals of what a device
// made of them.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "device.hpp"

namespace chol::test {

template <class T>
T random_element(std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (sizeof(T) == sizeof(Real<T>)) {
    return static_cast<T>(uniform(engine));
  } else {
    const double re = uniform(engine);
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(uniform(engine)));
  }
}
template <class T>
T conj_of(T x) {
  if constexpr (sizeof(T) == sizeof(Real<T>))
    return x;
  else
    return std::conj(x);
}

/// Column-major matrices at a constant stride; memory outside the named triangle has a pattern that
/// must not change.
template <class T>
struct Batch {
  using Wide = std::conditional_t<sizeof(T) == sizeof(Real<T>), double, std::complex<double>>;
  chol_uplo_t uplo;
  int64_t n, lda, stride, count;
  std::vector<T> a;

  Batch(chol_uplo_t uplo_, int64_t n_, int64_t lda_, int64_t count_, unsigned seed)
      : uplo(uplo_),
        n(n_),
        lda(lda_),
        stride(lda_ * n_ + 3),
        count(count_),
        a(static_cast<size_t>(stride * count_) + 1) {
    std::mt19937_64 engine(seed);
    for (T& x : a) x = T(Real<T>(-77.25));
    for (int64_t b = 0; b < count; ++b)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = j; i < n; ++i) {
          T x = random_element<T>(engine);
          if (i == j) x = T(Real<T>(n) * Real<T>(0.75) + std::real(x) + 1);
          lower(b, i, j) = uplo == CHOL_LOWER ? x : conj_of(x);
        }
  }

  /// Storage of element (i, j), i >= j, of the lower triangle, or of its mirror in the upper one.
  T& lower(int64_t b, int64_t i, int64_t j) {
    return a[b * stride + (uplo == CHOL_LOWER ? j * lda + i : i * lda + j)];
  }
  /// Element (i, j), i >= j, of the Hermitian matrix (or of the factor L) in wide arithmetic.
  Wide value(int64_t b, int64_t i, int64_t j) const {
    const T x = a[b * stride + (uplo == CHOL_LOWER ? j * lda + i : i * lda + j)];
    return Wide(uplo == CHOL_LOWER ? x : conj_of(x));
  }
  Wide full(int64_t b, int64_t i, int64_t j) const {
    return i >= j ? value(b, i, j) : conj_of(value(b, j, i));
  }
  bool in_triangle(int64_t offset) const {
    const int64_t r = offset % stride, j = r / lda, i = r % lda;
    return offset / stride < count && j < n && i < n && (uplo == CHOL_LOWER ? i >= j : i <= j);
  }
  double norm1(int64_t b) const {
    double most = 0;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::abs(full(b, i, j));
      most = std::max(most, sum);
    }
    return most;
  }
};

/// NaN counts as infinite.
inline double worse(double a, double b) { return std::isnan(b) || b > a ? b : a; }

template <class T>
double epsilon() {
  return std::numeric_limits<Real<T>>::epsilon() / 2;
}

/// norm1(A - L L^H) / (n norm1(A) eps)
template <class T>
double factor_residual(const Batch<T>& A, const Batch<T>& L, int64_t b) {
  using Wide = typename Batch<T>::Wide;
  const int64_t n = A.n;
  if (n == 0) return 0;
  std::vector<double> sums(n, 0.0);
  std::vector<Wide> factor(n * n);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) factor[i * n + j] = L.value(b, i, j);
  std::vector<double> errors(n * n, 0.0);
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      Wide sum = A.value(b, i, j);
      if (i == j) sum = Wide(std::real(sum));
      for (int64_t k = 0; k <= j; ++k) sum -= factor[i * n + k] * conj_of(factor[j * n + k]);
      errors[i * n + j] = errors[j * n + i] = std::abs(sum);
    }
  double most = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += errors[i * n + j];
    most = worse(most, sum);
  }
  return most / (double(n) * A.norm1(b) * epsilon<T>());
}

/// max over columns of norm1(b - A x) / (norm1(A) norm1(x) eps)
template <class T>
double solve_residual(const Batch<T>& A, int64_t b, const T* B, const T* X, int64_t ldb,
                      int64_t nrhs) {
  using Wide = typename Batch<T>::Wide;
  const int64_t n = A.n;
  double most = 0;
  if (n == 0) return 0;
  const double norm = A.norm1(b);
  for (int64_t c = 0; c < nrhs; ++c) {
    double error = 0, size = 0;
    for (int64_t i = 0; i < n; ++i) {
      Wide sum = Wide(B[c * ldb + i]);
      for (int64_t k = 0; k < n; ++k) sum -= A.full(b, i, k) * Wide(X[c * ldb + k]);
      error += std::abs(sum);
      size += std::abs(Wide(X[c * ldb + i]));
    }
    most = worse(most, error / (norm * size * epsilon<T>()));
  }
  return most;
}

/// Elements outside the named triangles whose bits differ.
template <class T>
int64_t changed_outside(const Batch<T>& before, const Batch<T>& after) {
  int64_t changed = 0;
  for (size_t k = 0; k < before.a.size(); ++k)
    if (!before.in_triangle(static_cast<int64_t>(k)) &&
        std::memcmp(&before.a[k], &after.a[k], sizeof(T)) != 0)
      ++changed;
  return changed;
}

}  // namespace chol::test
