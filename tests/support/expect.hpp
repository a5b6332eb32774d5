// Checks of results that all suites use.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "support/arrays.hpp"
#include "support/residual.hpp"

namespace chol::test {

/// Matrix b holds the factor of A.
template <class T>
testing::AssertionResult is_factor(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                   const Dense<T>& A) {
  const auto failure = [&] {
    return testing::AssertionFailure() << "matrix " << b << " of order " << A.rows << ": ";
  };
  if (arrays.info(b) != 0) return failure() << "info = " << arrays.info(b) << ", must be 0";
  const Dense<T> L = arrays.lower(b, uplo);
  for (int64_t i = 0; i < L.rows; ++i)
    if (std::imag(L(i, i)) != 0) return failure() << "diagonal element " << i << " is not real";
  const FactorRatios ratios = factor_ratios(A, L, A.rows);
  if (!(ratios.worst() < kThreshold))
    return failure() << "residual " << ratios.norm << " (by element " << ratios.element
                     << "), must be below " << kThreshold;
  return testing::AssertionSuccess();
}

/// Matrix b failed at pivot `info`, and the columns before it are the factor's. @param A may
/// contain NaN or Inf in that pivot's row, which is then not checked.
template <class T>
testing::AssertionResult stopped_at(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                    Dense<T> A, int64_t info) {
  const auto failure = [&] {
    return testing::AssertionFailure() << "matrix " << b << " of order " << A.rows << ": ";
  };
  if (arrays.info(b) != info)
    return failure() << "info = " << arrays.info(b) << ", must be " << info;
  Dense<T> L = arrays.lower(b, uplo);
  for (int64_t j = info - 1; j < L.columns; ++j)
    for (int64_t i = j; i < L.rows; ++i) L(i, j) = 0;
  bool finite = true;
  for (int64_t j = 0; j < info - 1; ++j) finite = finite && std::isfinite(std::abs(A(info - 1, j)));
  for (int64_t j = 0; j < info - 1 && !finite; ++j) L(info - 1, j) = A(info - 1, j) = 0;
  const FactorRatios ratios = factor_ratios(A, L, info - 1);
  if (!(ratios.worst() < kThreshold))
    return failure() << "residual of the " << info - 1 << " columns before the pivot "
                     << ratios.norm << " (by element " << ratios.element << "), must be below "
                     << kThreshold;
  return testing::AssertionSuccess();
}

/// B of matrix b holds the solution of A X = B0.
template <class T>
testing::AssertionResult is_solution(const Arrays<T>& arrays, int64_t b, const Dense<T>& A,
                                     const Dense<T>& B0) {
  const double ratio = solve_ratio(A, arrays.rhs(b), B0);
  if (ratio < kThreshold) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "system " << b << " of order " << A.rows << " with " << B0.columns
         << " right-hand sides: residual " << ratio << ", must be below " << kThreshold;
}

/// Runs a routine that must succeed and must not change other memory.
template <class T>
void run_well(Arrays<T>& arrays, chol_handle_t handle, Function function, chol_uplo_t uplo) {
  ASSERT_EQ(arrays.run(handle, function, uplo), CHOL_STATUS_SUCCESS) << chol_last_error(handle);
  EXPECT_TRUE(arrays.rest_kept());
}

}  // namespace chol::test
