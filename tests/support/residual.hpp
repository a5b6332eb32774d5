// LAPACK's measures of a result, computed in double precision for every type. With a NaN a measure
// is infinite, so that it fails every comparison.
#pragma once

#include "support/dense.hpp"

namespace chol::test {

/// Upper bound of a ratio.
inline constexpr double kThreshold = 30;

struct FactorRatios {
  /// norm1(A - L L^H) / (n norm1(A) eps), the measure of LAPACK's xPOT01.
  double norm;
  /// The largest |A - L L^H|_ij over n eps times the norms of rows i and j of L, a bound that holds
  /// for every order of the sums (Higham 2002, theorem 10.3). It detects an error in one small
  /// element.
  double element;
  double worst() const { return norm > element ? norm : element; }
};

/// Judges the leading `columns` columns of L, a lower factor of A with zeros above its diagonal.
template <class T>
FactorRatios factor_ratios(const Dense<T>& A, const Dense<T>& L, int64_t columns);

/// The largest over the columns of norm1(b - A x) / (norm1(A) norm1(x) eps), as xPOT02.
template <class T>
double solve_ratio(const Dense<T>& A, const Dense<T>& X, const Dense<T>& B);

/// norm1(I - A X) / (n norm1(A) norm1(X) eps), as xPOT03; for large n bounded from below by random
/// vectors, which costs n^2.
template <class T>
double inverse_ratio(const Dense<T>& A, const Dense<T>& X);

template <class T>
double norm1(const Dense<T>& A);

/// Relative machine precision, as dlamch('E').
template <class T>
double epsilon();

}  // namespace chol::test
