// One matrix through Eigen's LLT, a function for each element type, order and triangle.
#pragma once

#include <Eigen/Cholesky>
#include <cstdint>

namespace chol::bench {

/// Factors in place; false for a matrix that Eigen refused.
template <class T>
using EigenKernel = bool (*)(int64_t n, T* A, int64_t lda);

template <class T, int kOrder, int kTriangle>
bool eigen_factor(int64_t n, T* A, int64_t lda) {
  using Matrix = Eigen::Matrix<T, kOrder, kOrder>;
  using Block = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
  Block block(Eigen::Map<Matrix, 0, Eigen::OuterStride<>>(A, n, n, Eigen::OuterStride<>(lda)));
  return Eigen::LLT<Block, kTriangle>(block).info() == Eigen::Success;
}

/// For lower triangles; NULL for an order that was not built.
template <class T>
EigenKernel<T> eigen_fixed_kernel(int64_t n);

}  // namespace chol::bench
