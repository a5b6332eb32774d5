// Large positive definite matrices generated on the device, each element from its indices, and the
// residuals of their factors, without a copy of the matrix.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace chol::test {

struct GeneratedMatrix {
  enum Kind {
    random,  ///< condition number about 50
    graded,  ///< the same between diagonal matrices of widely different powers of two
    smooth   ///< a Gaussian kernel on a line with a nugget
  };
  Kind kind;
  int64_t n;
  int64_t bad_row = -1;  ///< its diagonal element is 1e-3 of the others'
  double nugget = 0;     ///< of a smooth one; 0: 1e-9, of single precision 3e-2

  /// The lower or upper triangle; zeros in the other one.
  /// @param type s, d, c or z
  cudaError_t write(char type, bool upper, void* A, int64_t lda, cudaStream_t stream) const {
    return write_columns(type, upper, A, lda, 0, n, stream);
  }
  /// The same of columns [first, first + columns) alone, the first of them at A.
  cudaError_t write_columns(char type, bool upper, void* A, int64_t lda, int64_t first,
                            int64_t columns, cudaStream_t stream) const;
};

struct SampledResidual {
  double ratio;   ///< LAPACK's, norm1 of some columns of A - L L^H over n eps norm1(A)
  double scaled;  ///< the largest element over sqrt(a_ii a_jj) eps
};
/// Of some columns, with sums of twice the precision.
cudaError_t sampled_residual(const GeneratedMatrix& matrix, char type, bool upper, const void* L,
                             int64_t lda, SampledResidual* residual);

}  // namespace chol::test
