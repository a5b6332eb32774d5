#include "support/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/precisions.h"
#include "support/random.hpp"

namespace chol::test {
namespace {

/// Larger orders take random vectors instead of a product of matrices.
constexpr int64_t kLargestProduct = 130;

template <class T>
Dense<Wide<T>> widened(const Dense<T>& A) {
  Dense<Wide<T>> W(A.rows, A.columns);
  std::copy(A.values.begin(), A.values.end(), W.values.begin());
  return W;
}

/// y -= a x, written out: the compiler vectorizes neither loop with std::complex operators.
void subtract_multiple(int64_t count, double a, const double* x, double* y) {
  for (int64_t i = 0; i < count; ++i) y[i] -= a * x[i];
}
void subtract_multiple(int64_t count, std::complex<double> a, const std::complex<double>* x,
                       std::complex<double>* y) {
  const double re = a.real(), im = a.imag();
  for (int64_t i = 0; i < count; ++i)
    y[i] = {y[i].real() - (re * x[i].real() - im * x[i].imag()),
            y[i].imag() - (re * x[i].imag() + im * x[i].real())};
}

double infinite_if_nan(double ratio) {
  return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

/// The larger one; NaN if one of them is.
double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// |re| + |im| as in LAPACK's xASUM, at most sqrt(2) times the absolute value, which takes a hypot.
double size_of(double x) { return std::abs(x); }
double size_of(const std::complex<double>& x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// |x / scale|^2
double square_of(double x, double scale) { return scale == 0 ? 0 : (x / scale) * (x / scale); }
double square_of(const std::complex<double>& x, double scale) {
  return square_of(x.real(), scale) + square_of(x.imag(), scale);
}

template <class W>
double column_sum(const W* x, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += size_of(x[i]);
  return sum;
}

/// The largest column sum.
template <class W>
double largest_sum(const Dense<W>& A) {
  double norm = 0;
  for (int64_t j = 0; j < A.columns; ++j) norm = worse(norm, column_sum(A.column(j), A.rows));
  return norm;
}

/// R = B - A X.
template <class W>
Dense<W> residual(const Dense<W>& A, const Dense<W>& X, const Dense<W>& B) {
  Dense<W> R = B;
  for (int64_t c = 0; c < X.columns; ++c)
    for (int64_t k = 0; k < A.columns; ++k)
      subtract_multiple(A.rows, X(k, c), A.column(k), &R(0, c));
  return R;
}

/// Norms of the rows of a lower triangle. They neither overflow nor underflow on graded matrices.
template <class W>
std::vector<double> row_norms(const Dense<W>& L, int64_t columns) {
  const auto rows = static_cast<size_t>(L.rows);
  std::vector<double> scales(rows), norms(rows);
  const auto for_each = [&](auto&& f) {
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t i = k; i < L.rows; ++i) f(static_cast<size_t>(i), L(i, k));
  };
  for_each([&](size_t i, const W& x) { scales[i] = worse(scales[i], size_of(x)); });
  for_each([&](size_t i, const W& x) { norms[i] += square_of(x, scales[i]); });
  for (size_t i = 0; i < rows; ++i) norms[i] = scales[i] * std::sqrt(norms[i]);
  return norms;
}

}  // namespace

template <class T>
double epsilon() {
  return std::numeric_limits<RealOf<T>>::epsilon() / 2;
}

template <class T>
double norm1(const Dense<T>& A) {
  double norm = 0;
  for (int64_t j = 0; j < A.columns; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < A.rows; ++i) sum += std::abs(Wide<T>(A(i, j)));
    norm = worse(norm, sum);
  }
  return norm;
}

template <class T>
FactorRatios factor_ratios(const Dense<T>& A, const Dense<T>& narrow_L, int64_t columns) {
  const int64_t n = A.rows;
  if (n == 0 || columns == 0) return {0, 0};
  const Dense<Wide<T>> L = widened(narrow_L);
  const std::vector<double> norms = row_norms(L, columns);
  const double eps = epsilon<T>() * static_cast<double>(n);
  const double largest = *std::max_element(norms.begin(), norms.end());
  const double floor =
      static_cast<double>(n) * std::numeric_limits<RealOf<T>>::denorm_min() * (1 + largest);
  std::vector<double> sums(static_cast<size_t>(n)), a_sums(static_cast<size_t>(n));
  std::vector<Wide<T>> r(static_cast<size_t>(n));
  double element = 0;
  for (int64_t j = 0; j < columns; ++j) {
    std::copy(A.column(j) + j, A.column(j) + n, r.begin() + j);
    for (int64_t k = 0; k <= j; ++k)
      subtract_multiple(n - j, conjugate(L(j, k)), L.column(k) + j, r.data() + j);
    for (int64_t i = j; i < n; ++i) {
      const auto at = static_cast<size_t>(i), column = static_cast<size_t>(j);
      const double error = size_of(r[at]), size = size_of(Wide<T>(A(i, j)));
      element = worse(element, error / (eps * norms[at] * norms[column] + floor));
      sums[column] += error;
      a_sums[column] += size;
      if (i > j) sums[at] += error;
      if (i > j) a_sums[at] += size;
    }
  }
  double error = 0, norm = 0;
  for (int64_t j = 0; j < n; ++j) error = worse(error, sums[static_cast<size_t>(j)]);
  for (int64_t j = 0; j < n; ++j) norm = worse(norm, a_sums[static_cast<size_t>(j)]);
  return {infinite_if_nan(error / (norm * eps + floor)), infinite_if_nan(element)};
}

template <class T>
double solve_ratio(const Dense<T>& A, const Dense<T>& X, const Dense<T>& B) {
  if (A.rows == 0 || X.columns == 0) return 0;
  const Dense<Wide<T>> wide_A = widened(A), wide_X = widened(X);
  const Dense<Wide<T>> R = residual(wide_A, wide_X, widened(B));
  const double a_norm = largest_sum(wide_A);
  double worst = 0;
  for (int64_t c = 0; c < X.columns; ++c) {
    const double error = column_sum(R.column(c), R.rows);
    const double x_norm = column_sum(wide_X.column(c), R.rows);
    const double ratio = error == 0 ? 0 : error / (a_norm * x_norm * epsilon<T>());
    worst = worse(worst, ratio);
  }
  return infinite_if_nan(worst);
}

template <class T>
double inverse_ratio(const Dense<T>& A, const Dense<T>& X) {
  using W = Wide<T>;
  const int64_t n = A.rows;
  if (n == 0) return 0;
  const Dense<W> wide_A = widened(A), wide_X = widened(X);
  Dense<W> R;
  if (n <= kLargestProduct) {
    Dense<W> I(n, n);
    for (int64_t i = 0; i < n; ++i) I(i, i) = 1;
    R = residual(wide_A, wide_X, I);
  } else {
    constexpr int kProbes = 4;
    Random random(static_cast<uint64_t>(n));
    Dense<W> V(n, kProbes);
    for (W& v : V.values) v = random.chance(0.5) ? 1 : -1;
    const Dense<W> minus_XV = residual(wide_X, V, Dense<W>(n, kProbes));
    Dense<W> XV = minus_XV;
    for (W& x : XV.values) x = -x;
    R = residual(wide_A, XV, V);
    for (W& r : R.values) r /= static_cast<double>(n);
  }
  return infinite_if_nan(largest_sum(R) / (static_cast<double>(n) * largest_sum(wide_A) *
                                           largest_sum(wide_X) * epsilon<T>()));
}

#define CHOL_INSTANTIATE_RESIDUALS(p, T, R)                                       \
  template FactorRatios factor_ratios(const Dense<T>&, const Dense<T>&, int64_t); \
  template double solve_ratio(const Dense<T>&, const Dense<T>&, const Dense<T>&); \
  template double inverse_ratio(const Dense<T>&, const Dense<T>&);                \
  template double norm1(const Dense<T>&);                                         \
  template double epsilon<T>();
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_RESIDUALS)
#undef CHOL_INSTANTIATE_RESIDUALS

}  // namespace chol::test
