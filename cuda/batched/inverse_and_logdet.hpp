// The small kernels around the factorization: summaries of info, log-determinants, identities, and
// the triangle of an inverse.
#pragma once

#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// How many of info[0 .. count) are not 0, and the position of the first of them or -1. By one
/// block, since there is no workspace to combine the results of several: a million take about 50
/// us.
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
