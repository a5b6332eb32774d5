// One matrix through Eigen's LLT, as a function per element type, order and triangle.
#pragma once

#include <Eigen/Cholesky>

#include "case.hpp"

namespace chol::bench {

/// Returns LAPACK's info as far as Eigen knows it: 0, or 1 for a matrix that it refused.
template <class T>
using EigenKernel = int (*)(Routine, int64_t n, int64_t nrhs, T* A, int64_t lda, T* B, int64_t ldb);

template <class T, int kOrder, int kTriangle>
int eigen_llt(Routine routine, int64_t n, int64_t nrhs, T* A, int64_t lda, T* B, int64_t ldb) {
  using Matrix = Eigen::Matrix<T, kOrder, kOrder>;
  using Block = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
  using Columns = Eigen::Matrix<T, kOrder, Eigen::Dynamic>;
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> mapped(A, n, n, Eigen::OuterStride<>(lda));
  Eigen::Map<Columns, 0, Eigen::OuterStride<>> rhs(B, n, nrhs, Eigen::OuterStride<>(ldb));
  if (routine == Routine::potrs) {
    if constexpr (kTriangle == Eigen::Lower) {
      mapped.template triangularView<Eigen::Lower>().solveInPlace(rhs);
      mapped.adjoint().template triangularView<Eigen::Upper>().solveInPlace(rhs);
    } else {
      mapped.adjoint().template triangularView<Eigen::Lower>().solveInPlace(rhs);
      mapped.template triangularView<Eigen::Upper>().solveInPlace(rhs);
    }
    return 0;
  }
  Block block(mapped);
  const Eigen::LLT<Block, kTriangle> llt(block);
  if (llt.info() != Eigen::Success) return 1;
  if (routine != Routine::potrf) llt.solveInPlace(rhs);
  return 0;
}

template <class T>
EigenKernel<T> eigen_dynamic_kernel(char uplo) {
  return uplo == 'L' ? &eigen_llt<T, Eigen::Dynamic, Eigen::Lower>
                     : &eigen_llt<T, Eigen::Dynamic, Eigen::Upper>;
}

/// NULL for an order that was not built.
template <class T>
EigenKernel<T> eigen_fixed_kernel(int64_t n, char uplo);

}  // namespace chol::bench
