// Inverted diagonal blocks of a factor, for some rows at a time.
#pragma once

#include <algorithm>

#include "common/batch_view.cuh"
#include "native/blas.hpp"
#include "native/solve/diagonal_workspace.hpp"
#include "native/solve/launch.hpp"

namespace chol::cuda::solve {

template <class T>
class DiagonalBlocks {
 public:
  /// @param blas whose stream is `stream`.
  DiagonalBlocks(const BatchView<T>& A, int64_t n, bool swapped, const DiagonalWorkspace<T>& work,
                 Blas& blas, cudaStream_t stream)
      : A_(A.first),
        ld_(A.ld),
        n_(n),
        swapped_(swapped),
        order_(work.order),
        work_(work),
        blas_(blas),
        stream_(stream) {}

  int64_t order() const { return order_; }
  /// Offset of element (i, j) of the factor.
  const T* factor(int64_t i, int64_t j) const {
    return A_ + (swapped_ ? i * ld_ + j : j * ld_ + i);
  }
  /// Offset of an element of a diagonal block's inverse, in lines of order() elements.
  T* inverse(int64_t i, int64_t j) const {
    i -= first_inverted_, j -= first_inverted_;
    return work_.inverses + (swapped_ ? i * order_ + j : j * order_ + i);
  }
  /// Of the diagonal block with first row i, for DiagonalCall.
  const int* substitutes(int64_t i) const {
    return work_.substitutes + (i - first_inverted_) / order_;
  }
  /// Ensures that the inverse of the block with row `row` is available.
  Status need(int64_t row) {
    return row < first_inverted_ || row >= end_inverted_ ? invert_around(row) : Status::success();
  }
  /// C := scalar X Y for blocks with the storage order of the matrix.
  Status multiply(int64_t rows, int64_t columns, int64_t depth, Real<T> scalar, const Operand<T>& X,
                  const Operand<T>& Y, const Result<T>& C, int64_t count = 1) const {
    return swapped_ ? blas_.multiply({columns, rows, depth}, scalar, Y, X, Real<T>(0), C, count)
                    : blas_.multiply({rows, columns, depth}, scalar, X, Y, Real<T>(0), C, count);
  }

 private:
  /// Inverts the diagonal blocks of as many rows as fit the memory, including `row`: tiles by a
  /// kernel, then pairs of blocks of twice the order, of [L11 0; L21 L22] as [inv(L11) 0; -inv(L22)
  /// L21 inv(L11) inv(L22)].
  Status invert_around(int64_t row) {
    first_inverted_ = row / work_.rows * work_.rows;
    end_inverted_ = std::min(first_inverted_ + work_.rows, n_);
    const int64_t n = end_inverted_ - first_inverted_;
    const Factor<T> part{factor(first_inverted_, first_inverted_), ld_, static_cast<int>(n), false};
    const Inverses<T> inverses{work_.inverses, order_, work_.sums, work_.substitutes};
    Status status = swapped_ ? invert_tiles<T, true>(part, inverses, stream_)
                             : invert_tiles<T, false>(part, inverses, stream_);
    for_each_join(n, Config<T>::kOrder, order_,
                  [&](int64_t first, int64_t w, int64_t rows, int64_t pairs) {
                    if (status.ok()) status = join(first_inverted_ + first, w, rows, pairs);
                  });
    if (!status.ok() || !work_.sums) return status;
    return swapped_ ? test_inverses<T, true>(part, inverses, stream_)
                    : test_inverses<T, false>(part, inverses, stream_);
  }
  /// The blocks below the diagonal of pairs of inverted blocks, with w columns and `rows` rows.
  Status join(int64_t first, int64_t w, int64_t rows, int64_t pairs) const {
    const int64_t second = first + w;
    const int64_t of_factor = 2 * w * (ld_ + 1), of_inverse = 2 * w * (order_ + 1);
    const Status status = multiply(rows, w, w, 1, {factor(second, first), ld_, false, of_factor},
                                   {inverse(first, first), order_, false, of_inverse},
                                   {work_.product, w, w * w}, pairs);
    if (!status.ok()) return status;
    return multiply(rows, w, rows, -1, {inverse(second, second), order_, false, of_inverse},
                    {work_.product, w, false, w * w}, {inverse(second, first), order_, of_inverse},
                    pairs);
  }

  const T* A_;
  int64_t ld_, n_;
  bool swapped_;
  int64_t order_;
  int64_t first_inverted_ = 0, end_inverted_ = 0;  ///< rows
  DiagonalWorkspace<T> work_;
  Blas& blas_;
  cudaStream_t stream_;
};

}  // namespace chol::cuda::solve
