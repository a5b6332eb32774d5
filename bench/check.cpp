#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/scalar.hpp"
#include "precision.hpp"

namespace chol::bench {
namespace {

/// Real numbers are summed in double precision, so that rounding in the check is negligible.
template <class T>
using Wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
using Vector = std::vector<Wide<T>>;

/// A matrix stored in one triangle, or in both.
template <class T>
struct Stored {
  const T* A;
  int64_t n, lda;
  Wide<T> at(int64_t i, int64_t j) const { return Wide<T>(A[i + j * lda]); }
};

template <class T>
Vector<T> full_product(const Stored<T>& A, const Vector<T>& x) {
  Vector<T> y(A.n);
  for (int64_t j = 0; j < A.n; ++j)
    for (int64_t i = 0; i < A.n; ++i) y[i] += A.at(i, j) * x[j];
  return y;
}

/// L (L^H x) or U^H (U x).
template <class T>
Vector<T> factor_product(const Stored<T>& F, char uplo, const Vector<T>& x) {
  Vector<T> inner(F.n), y(F.n);
  for (int64_t j = 0; j < F.n; ++j) {
    const int64_t begin = uplo == 'L' ? j : 0, end = uplo == 'L' ? F.n : j + 1;
    for (int64_t i = begin; i < end; ++i)
      if (uplo == 'L')
        inner[j] += conjugate(F.at(i, j)) * x[i];
      else
        inner[i] += F.at(i, j) * x[j];
  }
  for (int64_t j = 0; j < F.n; ++j) {
    const int64_t begin = uplo == 'L' ? j : 0, end = uplo == 'L' ? F.n : j + 1;
    for (int64_t i = begin; i < end; ++i)
      if (uplo == 'L')
        y[i] += F.at(i, j) * inner[j];
      else
        y[j] += conjugate(F.at(i, j)) * inner[i];
  }
  return y;
}

/// X x for a Hermitian X that is stored in one triangle.
template <class T>
Vector<T> hermitian_product(const Stored<T>& X, char uplo, const Vector<T>& x) {
  Vector<T> y(X.n);
  for (int64_t j = 0; j < X.n; ++j)
    for (int64_t i = 0; i < X.n; ++i) {
      const bool stored = uplo == 'L' ? i >= j : i <= j;
      y[i] += (stored ? X.at(i, j) : conjugate(X.at(j, i))) * x[j];
    }
  return y;
}

template <class T>
double largest(const Vector<T>& x) {
  double value = 0;
  for (const auto& element : x) {
    const double size = std::abs(element);
    if (!(size <= std::numeric_limits<double>::max()))
      return std::numeric_limits<double>::infinity();
    value = std::max(value, size);
  }
  return value;
}

template <class T>
double norm_of(const Stored<T>& A) {
  double norm = 0;
  for (int64_t j = 0; j < A.n; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < A.n; ++i) sum += std::abs(A.at(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

template <class T>
double difference(Vector<T> x, const Vector<T>& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] -= y[i];
  return largest<T>(x);
}

template <class T>
double residual_of(const Work& work, const char* input, int64_t index) {
  const Layout& layout = work.layout;
  const Case& c = work.c;
  const int64_t n = layout.n[index];
  const double eps = std::numeric_limits<RealOf<T>>::epsilon() / 2;
  const T* A0 = reinterpret_cast<const T*>(input) + layout.a[index];
  const T* B0 = reinterpret_cast<const T*>(input) + layout.a_elements + layout.b[index];
  const Stored<T> A{A0, n, layout.lda[index]}, F{work.a<T>(index), n, layout.lda[index]};
  const double norm = norm_of(A);
  double worst = 0;
  if (c.routine != Routine::potri) {
    Vector<T> x(n);
    for (int64_t i = 0; i < n; ++i) x[i] = (i * 7919 + index) % 3 == 0 ? -1.0 : 1.0;
    const double error = difference<T>(full_product(A, x), factor_product(F, c.uplo, x));
    worst = error / (static_cast<double>(n) * norm * eps);
  } else {
    Vector<T> x(n, 1.0);
    const Vector<T> y = full_product(A, hermitian_product(F, c.uplo, x));
    worst = difference<T>(y, x) / (static_cast<double>(n) * eps);
  }
  if (!has_rhs(c.routine)) return worst;
  for (int64_t k = 0; k < c.nrhs; ++k) {
    const T* solved = work.b<T>(index) + k * layout.ldb[index];
    const T* given = B0 + k * layout.ldb[index];
    const Vector<T> x(solved, solved + n), b(given, given + n);
    const double scale = norm * std::max(largest<T>(x), 1e-300) * eps;
    worst = std::max(worst, difference<T>(full_product(A, x), b) / scale);
  }
  return worst;
}

}  // namespace

Verdict check_result(const Work& work, const char* input) {
  Verdict verdict;
  for (const int info : work.info) verdict.failed += info != 0;
  if (work.c.routine == Routine::pocon || work.c.routine == Routine::logdet) return verdict;
  verdict.residual = 0;
  constexpr double kMostElements = 4e6;
  const int64_t count = work.layout.count();
  const double n = static_cast<double>(std::max<int64_t>(work.c.n, 1));
  const auto samples = static_cast<int64_t>(std::clamp(kMostElements / (n * n), 2.0, 200.0));
  with_precision(work.c.precision, [&](auto type) {
    for (int64_t s = 0; s < std::min(samples, count); ++s) {
      const int64_t index = samples >= count ? s : s * (count - 1) / (samples - 1);
      const double residual = residual_of<decltype(type)>(work, input, index);
      verdict.residual = std::max(verdict.residual, residual);
    }
  });
  return verdict;
}

}  // namespace chol::bench
