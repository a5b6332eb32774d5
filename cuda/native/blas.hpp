// cuBLAS in the terms of a lower view: operations on upper storage are those on the swapped
// storage.
#pragma once

#include <cublas_v2.h>

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

/// A matrix by columns, or one of several that lie `stride` elements apart.
template <class T>
struct Operand {
  const T* first;
  int64_t ld;
  bool adjoint = false;  ///< whether the conjugate transpose is meant
  int64_t stride = 0;
};
template <class T>
struct Result {
  T* first;
  int64_t ld, stride = 0;
};
struct Extents {
  int64_t rows, columns, depth;
};

/// One cuBLAS handle, made at the first call that needs it.
class Blas {
 public:
  Blas() = default;
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// Makes the handle when there is none, and queues what follows on `stream`.
  Status use(cudaStream_t stream);
  /// The handle, after use().
  cublasHandle_t handle() const { return handle_; }

  /// C -= A A^H on the lower triangle of C (n x n), A n x k: blocks of one matrix in lower storage,
  /// or, swapped, of one in upper storage.
  template <class T>
  Status subtract_square(bool swapped, int64_t n, int64_t k, const T* A, T* C, int64_t ld);
  /// C -= A B^H with C m x n, A m x k, B n x k, in the same sense.
  template <class T>
  Status subtract_product(bool swapped, int64_t m, int64_t n, int64_t k, const T* A, const T* B,
                          T* C, int64_t ld);
  /// C := alpha A B + beta C, of `count` matrices.
  template <class T>
  Status multiply(const Extents& extents, Real<T> alpha, const Operand<T>& A, const Operand<T>& B,
                  Real<T> beta, const Result<T>& C, int64_t count = 1);
  /// B := op(L)^-1 B with the factor as stored: op takes the conjugate transpose when `adjoint`.
  template <class T>
  Status solve(cublasFillMode_t triangle, bool adjoint, int64_t n, int64_t nrhs, const T* L,
               int64_t ld, T* B, int64_t ldb);

  /// C := A^T B on the integer tensor cores, A k x m, B k x n of bytes, in columns that start at
  /// multiples of 16 bytes.
  Status multiply_bytes(int64_t m, int64_t n, int64_t k, const int8_t* A, int64_t lda,
                        const int8_t* B, int64_t ldb, int* C, int64_t ldc);

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace chol::cuda
