#include "chol.h"
#include "common/precisions.hpp"
#include "native/blas.hpp"

namespace chol::cuda {
namespace {

Status status_of(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return Status::success();
  return Status::error(
      status == CUBLAS_STATUS_ALLOC_FAILED ? CHOL_STATUS_ALLOC_FAILED : CHOL_STATUS_DEVICE_ERROR,
      "%s: %s", doing, cublasGetStatusString(status));
}

// The entry points of each precision under one name, with the element types that cuBLAS has.
template <class T>
struct Entry;
template <>
struct Entry<float> {
  using Element = float;
  static constexpr auto gemm = cublasSgemm_64;
  static constexpr auto gemm_strided = cublasSgemmStridedBatched_64;
  static constexpr auto herk = cublasSsyrk_64;
  static constexpr auto trsm = cublasStrsm_64;
  static constexpr auto geam = cublasSgeam_64;
  static constexpr auto trmm = cublasStrmm_64;
};
template <>
struct Entry<double> {
  using Element = double;
  static constexpr auto gemm = cublasDgemm_64;
  static constexpr auto gemm_strided = cublasDgemmStridedBatched_64;
  static constexpr auto herk = cublasDsyrk_64;
  static constexpr auto trsm = cublasDtrsm_64;
  static constexpr auto geam = cublasDgeam_64;
  static constexpr auto trmm = cublasDtrmm_64;
};
template <>
struct Entry<Complex<float>> {
  using Element = cuComplex;
  static constexpr auto gemm = cublasCgemm_64;
  static constexpr auto gemm_strided = cublasCgemmStridedBatched_64;
  static constexpr auto herk = cublasCherk_64;
  static constexpr auto trsm = cublasCtrsm_64;
  static constexpr auto geam = cublasCgeam_64;
  static constexpr auto trmm = cublasCtrmm_64;
};
template <>
struct Entry<Complex<double>> {
  using Element = cuDoubleComplex;
  static constexpr auto gemm = cublasZgemm_64;
  static constexpr auto gemm_strided = cublasZgemmStridedBatched_64;
  static constexpr auto herk = cublasZherk_64;
  static constexpr auto trsm = cublasZtrsm_64;
  static constexpr auto geam = cublasZgeam_64;
  static constexpr auto trmm = cublasZtrmm_64;
};

template <class T>
auto* element(T* x) {
  return reinterpret_cast<typename Entry<T>::Element*>(x);
}
template <class T>
auto* element(const T* x) {
  return reinterpret_cast<const typename Entry<T>::Element*>(x);
}
template <class T>
T scalar(Real<T> x) {
  if constexpr (Traits<T>::is_complex)
    return {x, 0};
  else
    return x;
}

}  // namespace

Blas::~Blas() {
  if (handle_) cublasDestroy(handle_);
}

Status Blas::use(cudaStream_t stream) {
  if (!handle_) {
    Status status = status_of(cublasCreate(&handle_), "cuBLAS");
    if (!status.ok()) return status;
    // The default, set explicitly: no implicit use of reduced precision.
    status = status_of(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH), "cuBLAS math mode");
    if (!status.ok()) return status;
  }
  return status_of(cublasSetStream(handle_, stream), "cuBLAS stream");
}

template <class T>
Status Blas::subtract_square(bool swapped, int64_t n, int64_t k, const T* A, int64_t lda, T* C,
                             int64_t ldc) {
  const Real<T> minus = -1, one = 1;
  return status_of(
      Entry<T>::herk(handle_, swapped ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER,
                     swapped ? (Traits<T>::is_complex ? CUBLAS_OP_C : CUBLAS_OP_T) : CUBLAS_OP_N, n,
                     k, &minus, element(A), lda, &one, element(C), ldc),
      "cuBLAS herk");
}

template <class T>
Status Blas::subtract_product(bool swapped, int64_t m, int64_t n, int64_t k, const T* A, const T* B,
                              T* C, int64_t ld) {
  const T minus = scalar<T>(-1), one = scalar<T>(1);
  // Swapped storage holds transposes: C^T -= conj(B) A^T, and conj(B) is the adjoint of B^T.
  const cublasStatus_t status =
      swapped ? Entry<T>::gemm(handle_, CUBLAS_OP_C, CUBLAS_OP_N, n, m, k, element(&minus),
                               element(B), ld, element(A), ld, element(&one), element(C), ld)
              : Entry<T>::gemm(handle_, CUBLAS_OP_N, CUBLAS_OP_C, m, n, k, element(&minus),
                               element(A), ld, element(B), ld, element(&one), element(C), ld);
  return status_of(status, "cuBLAS gemm");
}

template <class T>
Status Blas::multiply(const Extents& extents, Real<T> alpha, const Operand<T>& A,
                      const Operand<T>& B, Real<T> beta, const Result<T>& C, int64_t count) {
  const T by = scalar<T>(alpha), kept = scalar<T>(beta);
  const auto operation = [](bool adjoint) { return adjoint ? CUBLAS_OP_C : CUBLAS_OP_N; };
  const auto [m, n, k] = extents;
  if (count == 1)
    return status_of(Entry<T>::gemm(handle_, operation(A.adjoint), operation(B.adjoint), m, n, k,
                                    element(&by), element(A.first), A.ld, element(B.first), B.ld,
                                    element(&kept), element(C.first), C.ld),
                     "cuBLAS gemm");
  return status_of(
      Entry<T>::gemm_strided(handle_, operation(A.adjoint), operation(B.adjoint), m, n, k,
                             element(&by), element(A.first), A.ld, A.stride, element(B.first), B.ld,
                             B.stride, element(&kept), element(C.first), C.ld, C.stride, count),
      "cuBLAS gemm");
}

template <class T>
Status Blas::solve(cublasFillMode_t triangle, bool adjoint, int64_t n, int64_t nrhs, const T* L,
                   int64_t ld, T* B, int64_t ldb) {
  const T one = scalar<T>(1);
  return status_of(
      Entry<T>::trsm(handle_, CUBLAS_SIDE_LEFT, triangle, adjoint ? CUBLAS_OP_C : CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, n, nrhs, element(&one), element(L), ld, element(B), ldb),
      "cuBLAS trsm");
}

template <class T>
Status Blas::solve_right(cublasFillMode_t triangle, bool adjoint, int64_t n, int64_t rows,
                         const T* L, int64_t ld, T* B, int64_t ldb, Real<T> alpha) {
  const T by = scalar<T>(alpha);
  return status_of(
      Entry<T>::trsm(handle_, CUBLAS_SIDE_RIGHT, triangle, adjoint ? CUBLAS_OP_C : CUBLAS_OP_N,
                     CUBLAS_DIAG_NON_UNIT, rows, n, element(&by), element(L), ld, element(B), ldb),
      "cuBLAS trsm");
}

template <class T>
Status Blas::add(int64_t rows, int64_t columns, const T* A, int64_t lda, T* C, int64_t ldc) {
  const T one = scalar<T>(1);
  return status_of(
      Entry<T>::geam(handle_, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, element(&one), element(A),
                     lda, element(&one), element(static_cast<const T*>(C)), ldc, element(C), ldc),
      "cuBLAS geam");
}

template <class T>
Status Blas::multiply_triangle(bool from_left, cublasFillMode_t triangle, bool adjoint, int64_t n,
                               int64_t others, const T* L, int64_t ld, T* B, int64_t ldb) {
  const T one = scalar<T>(1);
  return status_of(
      Entry<T>::trmm(handle_, from_left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, triangle,
                     adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                     from_left ? n : others, from_left ? others : n, element(&one), element(L), ld,
                     element(static_cast<const T*>(B)), ldb, element(B), ldb),
      "cuBLAS trmm");
}

template <class T>
Status Blas::square(cublasFillMode_t triangle, int64_t n, int64_t k, const Operand<T>& A,
                    Real<T> beta, T* C, int64_t ldc) {
  const Real<T> one = 1;
  const cublasOperation_t adjoint = Traits<T>::is_complex ? CUBLAS_OP_C : CUBLAS_OP_T;
  return status_of(Entry<T>::herk(handle_, triangle, A.adjoint ? adjoint : CUBLAS_OP_N, n, k, &one,
                                  element(A.first), A.ld, &beta, element(C), ldc),
                   "cuBLAS herk");
}

Status Blas::multiply_bytes(int64_t m, int64_t n, int64_t k, const int8_t* A, int64_t lda,
                            const int8_t* B, int64_t ldb, int* C, int64_t ldc) {
  const int one = 1, zero = 0;
  return status_of(cublasGemmEx_64(handle_, CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, A, CUDA_R_8I,
                                   lda, B, CUDA_R_8I, ldb, &zero, C, CUDA_R_32I, ldc,
                                   CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
                   "cuBLAS product of bytes");
}

#define CHOL_INSTANTIATE(T)                                                                        \
  template Status Blas::subtract_square<T>(bool, int64_t, int64_t, const T*, int64_t, T*,          \
                                           int64_t);                                               \
  template Status Blas::solve_right<T>(cublasFillMode_t, bool, int64_t, int64_t, const T*,         \
                                       int64_t, T*, int64_t, Real<T>);                             \
  template Status Blas::multiply_triangle<T>(bool, cublasFillMode_t, bool, int64_t, int64_t,       \
                                             const T*, int64_t, T*, int64_t);                      \
  template Status Blas::square<T>(cublasFillMode_t, int64_t, int64_t, const Operand<T>&, Real<T>,  \
                                  T*, int64_t);                                                    \
  template Status Blas::add<T>(int64_t, int64_t, const T*, int64_t, T*, int64_t);                  \
  template Status Blas::subtract_product<T>(bool, int64_t, int64_t, int64_t, const T*, const T*,   \
                                            T*, int64_t);                                          \
  template Status Blas::multiply<T>(const Extents&, Real<T>, const Operand<T>&, const Operand<T>&, \
                                    Real<T>, const Result<T>&, int64_t);                           \
  template Status Blas::solve<T>(cublasFillMode_t, bool, int64_t, int64_t, const T*, int64_t, T*,  \
                                 int64_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
