// cuBLAS in the terms of a lower view: operations on upper storage are those on the swapped
// storage.
#pragma once

#include <cublas_v2.h>

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

/// A column-major matrix, or one of several at a distance of `stride` elements.
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

/// One cuBLAS handle, created at the first call that needs it.
class Blas {
 public:
  Blas() = default;
  ~Blas();
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  /// Creates the handle if there is none, and sets its stream.
  Status use(cudaStream_t stream);
  /// The handle, after use().
  cublasHandle_t handle() const { return handle_; }

  /// C -= A A^H on the lower triangle of C (n x n), A n x k: blocks in lower storage, or, swapped,
  /// in upper storage.
  template <class T>
  Status subtract_square(bool swapped, int64_t n, int64_t k, const T* A, int64_t lda, T* C,
                         int64_t ldc);
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
  /// B := alpha B op(L)^-1, B of `rows` rows.
  template <class T>
  Status solve_right(cublasFillMode_t triangle, bool adjoint, int64_t n, int64_t rows, const T* L,
                     int64_t ld, T* B, int64_t ldb, Real<T> alpha = 1);
  /// B := op(L) B, B of `others` columns, or B := B op(L), of `others` rows.
  template <class T>
  Status multiply_triangle(bool from_left, cublasFillMode_t triangle, bool adjoint, int64_t n,
                           int64_t others, const T* L, int64_t ld, T* B, int64_t ldb);
  /// C := A A^H + beta C on a triangle of C (n x n), A n x k, which may be given by its adjoint.
  template <class T>
  Status square(cublasFillMode_t triangle, int64_t n, int64_t k, const Operand<T>& A, Real<T> beta,
                T* C, int64_t ldc);
  /// C := C + A, rows by columns.
  template <class T>
  Status add(int64_t rows, int64_t columns, const T* A, int64_t lda, T* C, int64_t ldc);

  /// C := A^T B on the integer tensor cores, A k x m, B k x n of bytes, in columns that start at
  /// multiples of 16 bytes.
  Status multiply_bytes(int64_t m, int64_t n, int64_t k, const int8_t* A, int64_t lda,
                        const int8_t* B, int64_t ldb, int* C, int64_t ldc);

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace chol::cuda
