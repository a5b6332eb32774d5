// The small kernels around the factorization: checks where the arrays lie, log-determinants,
// identities, and the triangle of an inverse.
#pragma once

#include "common/launch.hpp"
#include "common/view.cuh"

namespace chol::cuda {

/// Positions of the arguments of a variable batch in its C function, for info[b] = -position.
struct VariablePositions {
  int n, nrhs, A, lda, B, ldb;
};

/// The arrays of a variable batch as the caller gave them, and where the checked ones go.
template <class T>
struct VariableCheck {
  BatchView<T> A, B;
  int64_t count = 0;
  int64_t max_n = 0, max_nrhs = 0;
  const int64_t* n = nullptr;
  const int64_t* nrhs = nullptr;  ///< null: the routine has no right-hand sides
  VariablePositions position{};
  int* info = nullptr;            ///< null: the routine has none
  int64_t* orders = nullptr;      ///< n[b], or -1 where an argument is bad
  int64_t* rhs_counts = nullptr;  ///< nrhs[b], or 0 there
};

template <class T>
Status check_variable(const VariableCheck<T>& check, cudaStream_t stream);

/// largest[0] := max values[0 .. count), at least 0.
Status largest_value(const int64_t* values, int64_t count, int64_t* largest, cudaStream_t stream);

/// How many of info[0 .. count) are not 0, and the position of the first of them or -1. By one
/// block, since there is no workspace to meet in: a million take about 50 us.
Status summarize(const int* info, int64_t count, int64_t* failed, int64_t* first,
                 cudaStream_t stream);

/// result[b] := 2 sum log of the diagonal of the factor.
template <class T>
Status log_determinants(const BatchProblem<T>& problem, Real<T>* result, cudaStream_t stream);

/// B := identity of each matrix's order.
template <class T>
Status set_identity(const BatchProblem<T>& problem, cudaStream_t stream);

/// info[b] := the first k whose diagonal element of the factor is zero, or 0.
template <class T>
Status find_singular(const BatchProblem<T>& problem, cudaStream_t stream);

/// Lower triangle of B into the named triangle of A, where info[b] = 0.
template <class T>
Status copy_inverse(const BatchProblem<T>& problem, cudaStream_t stream);

/// B := X of one matrix where info[0] = 0.
template <class T>
Status copy_solution(const BatchProblem<T>& problem, const BatchView<T>& X, cudaStream_t stream);

}  // namespace chol::cuda
