// A call as passed to kernels: the address and order of each matrix, and the destination of its
// results.
#pragma once

#include <cstdint>

#include "common/scalar.cuh"

namespace chol::cuda {

template <class T>
struct BatchView {
  T* first = nullptr;
  int64_t stride = 0;
  T* const* pointers = nullptr;
  int64_t ld = 1;
  const int64_t* lds = nullptr;

  __device__ __forceinline__ T* matrix(int64_t b) const {
    return pointers ? pointers[b] : first + b * stride;
  }
  __device__ __forceinline__ int64_t leading_dimension(int64_t b) const {
    return lds ? lds[b] : ld;
  }
};

/// Positions of the arguments of a variable batch in its C function, for info[b] = -position.
struct VariablePositions {
  int n, nrhs, A, lda, B, ldb;
};

/// One call. The upper triangle is the lower one on swapped strides: element (i, j) is at i * ld +
/// j; this is conj(A), whose factor conj(L) is U where U belongs. Right-hand sides are conjugated
/// when they are loaded and stored, since conj(A) conj(x) = conj(b).
template <class T>
struct BatchProblem {
  BatchView<T> A;
  BatchView<T> B;
  int64_t count = 0;
  int64_t n = 0;                    ///< of every matrix, or the bound
  int64_t nrhs = 0;                 ///< of every matrix, or the bound
  const int64_t* orders = nullptr;  ///< checked orders; negative: skip that matrix
  const int64_t* rhs_counts = nullptr;
  /// Processing order of the factorization, positions in the arrays above; null: in the caller's
  /// order. Ignored, and null, for all later kernels.
  const unsigned* sequence = nullptr;
  /// Orders and leading dimensions are as the caller gave them: the kernel checks them itself,
  /// which saves a launch. Only for kernels that say so.
  bool unchecked = false;
  VariablePositions position{};
  int* info = nullptr;
  bool swapped = false;

  __device__ __forceinline__ int64_t order(int64_t b) const { return orders ? orders[b] : n; }
  __device__ __forceinline__ int64_t rhs_count(int64_t b) const {
    return rhs_counts ? rhs_counts[b] : nrhs;
  }
  /// Position of the first bad argument of matrix b, of that order and without right-hand sides, or
  /// 0.
  __device__ __forceinline__ int first_bad(int64_t b, int64_t order) const {
    if (order < 0 || order > n) return position.n;
    if (order > 0 && !A.matrix(b)) return position.A;
    return A.leading_dimension(b) < (order > 1 ? order : 1) ? position.lda : 0;
  }
  /// Whether matrix b is to be solved: it is valid and, in posv, was factored.
  __device__ __forceinline__ bool solves(int64_t b) const {
    return order(b) > 0 && rhs_count(b) > 0 && !(info && info[b] != 0);
  }
};

/// The lower triangle that represents a matrix of a BatchProblem.
template <class T>
struct LowerView {
  T* a;
  int64_t ld;
  bool swapped;

  __device__ __forceinline__ T* at(int64_t i, int64_t j) const {
    return swapped ? a + i * ld + j : a + j * ld + i;
  }
  /// The view whose element (0, 0) is this one's (i, j).
  __device__ __forceinline__ LowerView from(int64_t i, int64_t j) const {
    return {at(i, j), ld, swapped};
  }
};

template <class T>
__device__ __forceinline__ LowerView<T> lower_view(const BatchProblem<T>& problem, int64_t b) {
  return {problem.A.matrix(b), problem.A.leading_dimension(b), problem.swapped};
}

}  // namespace chol::cuda
