// The systems on which plans are timed, and the check of the results.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/flops.hpp"
#include "base/scalar.hpp"
#include "tools/tune/point.hpp"

namespace chol::tune {

/// Well-conditioned systems of one right-hand side each: interleaved in chunks, or column-major
/// where chunk is 0.
template <class T>
class Systems {
 public:
  using R = RealOf<T>;
  std::vector<T> A, B;

  Systems(int64_t n, int64_t chunk, int64_t batch) : n_(n), chunk_(chunk), batch_(batch) {
    A.resize(static_cast<size_t>(n * n * batch));
    B.resize(static_cast<size_t>(n * batch));
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t j = 0; j < n; ++j) {
        B[at(b, j, 0, 1)] = element(b + j);
        for (int64_t i = j; i < n; ++i)
          A[at(b, i, j, n)] = i == j ? T(R(2 * n + 1)) : element(b + 3 * i + 7 * j);
      }
  }

  /// Whether `a` and `b` are the results of the routine for A and B, in the first and last matrix.
  bool is_right(Routine routine, const std::vector<T>& a, const std::vector<T>& b) const {
    const double eps = std::numeric_limits<R>::epsilon(), scale = 4.0 * static_cast<double>(n_);
    for (const int64_t matrix : {int64_t{0}, batch_ - 1})
      for (int64_t i = 0; i < n_; ++i)
        if (!(error_in_row(routine, a, b, matrix, i) <= 100 * eps * scale)) return false;
    return true;
  }

 private:
  using C = std::complex<double>;

  size_t at(int64_t b, int64_t i, int64_t j, int64_t columns) const {
    const int64_t k = chunk_ > 0 ? ((b / chunk_ * columns + j) * n_ + i) * chunk_ + b % chunk_
                                 : (b * columns + j) * n_ + i;
    return static_cast<size_t>(k);
  }
  static T element(int64_t seed) {
    const R value = R(0.25) + R(seed % 11) / R(16);
    if constexpr (is_complex<T>)
      return T(value, R(0.5) - value);
    else
      return seed % 2 ? value : -value;
  }
  /// Element (i, j) of the Hermitian matrix whose lower triangle is stored.
  C hermitian(const std::vector<T>& matrix, int64_t b, int64_t i, int64_t j) const {
    return i >= j ? C(matrix[at(b, i, j, n_)]) : std::conj(C(matrix[at(b, j, i, n_)]));
  }
  /// A few elements of row i recomputed from the result: of A from the factor, of the identity from
  /// the inverse, or of b from x.
  double error_in_row(Routine routine, const std::vector<T>& a, const std::vector<T>& b,
                      int64_t matrix, int64_t i) const {
    if (routine == Routine::potrf) {
      double most = 0;
      for (const int64_t j : {i, i / 2, int64_t{0}}) {
        C sum = 0;
        for (int64_t k = 0; k <= j; ++k)
          sum += C(a[at(matrix, i, k, n_)]) * std::conj(C(a[at(matrix, j, k, n_)]));
        const double error = std::abs(sum - hermitian(A, matrix, i, j));
        most = error <= most ? most : error;  // NaN stays
      }
      return most;
    }
    C sum = 0, expected = C(B[at(matrix, i, 0, 1)]);
    for (int64_t k = 0; k < n_; ++k)
      sum += hermitian(A, matrix, i, k) *
             (routine == Routine::potri ? hermitian(a, matrix, k, i) : C(b[at(matrix, k, 0, 1)]));
    if (routine == Routine::potri) expected = 1;
    return std::abs(sum - expected);
  }

  int64_t n_, chunk_, batch_;
};

/// Of one system in type T.
template <class T>
double flops_of(Routine routine, int64_t order) {
  const auto n = static_cast<double>(order);
  const double one = routine == Routine::potrf   ? potrf_flops(n)
                     : routine == Routine::potrs ? potrs_flops(n, 1)
                     : routine == Routine::posv  ? potrf_flops(n) + potrs_flops(n, 1)
                                                 : potri_flops(n);
  return flop_factor<T> * one;
}

}  // namespace chol::tune
