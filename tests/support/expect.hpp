// Checks of results that all suites use.
#pragma once

#include <gtest/gtest.h>

#include "support/arrays.hpp"
#include "support/residual.hpp"

namespace chol::test {

/// Matrix b holds the factor of A.
template <class T>
testing::AssertionResult is_factor(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                   const Dense<T>& A);

/// Matrix b failed at pivot `info`, and the columns before it are the factor's. @param A may
/// contain NaN or Inf in that pivot's row, which is then not checked.
template <class T>
testing::AssertionResult stopped_at(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo,
                                    Dense<T> A, int64_t info);

/// B of matrix b holds the solution of A X = B0.
template <class T>
testing::AssertionResult is_solution(const Arrays<T>& arrays, int64_t b, const Dense<T>& A,
                                     const Dense<T>& B0);

/// Runs a routine that must succeed and must not change other memory.
template <class T>
void run_well(Arrays<T>& arrays, chol_handle_t handle, Function function, chol_uplo_t uplo);

}  // namespace chol::test
