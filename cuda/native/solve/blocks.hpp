// Solves by inverted diagonal blocks and products by cuBLAS.
#pragma once

#include <algorithm>

#include "native/solve/diagonal_blocks.hpp"
#include "native/solve/solve.hpp"

namespace chol::cuda::solve {

template <class T>
class Blocks {
 public:
  /// @param blas whose stream is `stream`.
  Blocks(const BatchProblem<T>& problem, const Workspace<T>& work, Blas& blas, cudaStream_t stream)
      : diagonal_(problem.A, problem.n, problem.swapped, work.diagonal, blas, stream),
        ld_(problem.A.ld),
        n_(problem.n),
        swapped_(problem.swapped),
        order_(work.diagonal.order),
        product_(work.diagonal.product),
        blas_(blas),
        stream_(stream) {}

  Status solve(const BatchProblem<T>& problem) {
    const Status status = forward(problem, 0, n_);
    return status.ok() ? backward(problem, 0, n_) : status;
  }

 private:
  int64_t half_of(int64_t width) const { return (width / 2 + order_ - 1) / order_ * order_; }
  /// Rows [first, first + width) of X := inv(L) B, after the updates by those before.
  Status forward(const BatchProblem<T>& problem, int64_t first, int64_t width) {
    if (width <= order_) return leaf(problem, first, width, swapped_);
    const int64_t half = half_of(width), middle = first + half, rest = width - half;
    Status status = forward(problem, first, half);
    if (status.ok()) status = subtract(problem, middle, rest, first, half, swapped_);
    return status.ok() ? forward(problem, middle, rest) : status;
  }
  /// The same for inv(L^H), after the updates by those after them.
  Status backward(const BatchProblem<T>& problem, int64_t first, int64_t width) {
    if (width <= order_) return leaf(problem, first, width, !swapped_);
    const int64_t half = half_of(width), middle = first + half, rest = width - half;
    Status status = backward(problem, middle, rest);
    if (status.ok()) status = subtract(problem, first, half, middle, rest, !swapped_);
    return status.ok() ? backward(problem, first, half) : status;
  }
  /// Rows [to, to + rows) of B minus the products with [from, from + depth).
  Status subtract(const BatchProblem<T>& problem, int64_t to, int64_t rows, int64_t from,
                  int64_t depth, bool adjoint) const {
    const int64_t ldb = problem.B.ld;
    return blas_.multiply({rows, problem.nrhs, depth}, Real<T>(-1),
                          {diagonal_.factor(std::max(to, from), std::min(to, from)), ld_, adjoint},
                          Operand<T>{problem.B.first + from, ldb}, Real<T>(1),
                          Result<T>{problem.B.first + to, ldb});
  }
  Status leaf(const BatchProblem<T>& problem, int64_t first, int64_t width, bool adjoint) {
    if (Status status = diagonal_.need(first); !status.ok()) return status;
    T* const B = problem.B.first + first;
    const int64_t ldb = problem.B.ld;
    Status status = blas_.multiply({width, problem.nrhs, width}, Real<T>(1),
                                   {diagonal_.inverse(first, first), order_, adjoint},
                                   Operand<T>{B, ldb}, Real<T>(0), Result<T>{product_, width});
    if (!status.ok()) return status;
    const T* const block = diagonal_.factor(first, first);
    const DiagonalCall<T> call{{block, ld_, static_cast<int>(width), is_aligned(block, ld_)},
                               B,
                               ldb,
                               problem.nrhs,
                               product_,
                               diagonal_.substitutes(first)};
    const bool forward = adjoint == swapped_;
    return swapped_ ? solve_diagonal<T, true>(call, forward, stream_)
                    : solve_diagonal<T, false>(call, forward, stream_);
  }

  DiagonalBlocks<T> diagonal_;
  int64_t ld_, n_;
  bool swapped_;
  int64_t order_;
  T* product_;
  Blas& blas_;
  cudaStream_t stream_;
};

}  // namespace chol::cuda::solve
