#include "support/expect.hpp"

#include <cmath>

namespace chol::test {

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

template <class T>
testing::AssertionResult is_solution(const Arrays<T>& arrays, int64_t b, const Dense<T>& A,
                                     const Dense<T>& B0) {
  const double ratio = solve_ratio(A, arrays.rhs(b), B0);
  if (ratio < kThreshold) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "system " << b << " of order " << A.rows << " with " << B0.columns
         << " right-hand sides: residual " << ratio << ", must be below " << kThreshold;
}

template <class T>
void run_well(Arrays<T>& arrays, chol_handle_t handle, Function function, chol_uplo_t uplo) {
  ASSERT_EQ(arrays.run(handle, function, uplo), CHOL_STATUS_SUCCESS) << chol_last_error(handle);
  EXPECT_TRUE(arrays.rest_kept());
}

#define CHOL_INSTANTIATE_CHECKS(p, T, R)                                                         \
  template testing::AssertionResult is_factor(const Arrays<T>&, int64_t, chol_uplo_t,            \
                                              const Dense<T>&);                                  \
  template testing::AssertionResult stopped_at(const Arrays<T>&, int64_t, chol_uplo_t, Dense<T>, \
                                               int64_t);                                         \
  template testing::AssertionResult is_solution(const Arrays<T>&, int64_t, const Dense<T>&,      \
                                                const Dense<T>&);                                \
  template void run_well(Arrays<T>&, chol_handle_t, Function, chol_uplo_t);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE_CHECKS)
#undef CHOL_INSTANTIATE_CHECKS

}  // namespace chol::test
