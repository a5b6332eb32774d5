#include <algorithm>
#include <complex>
#include <vector>

#include "common/device_type.hpp"
#include "common/launch.hpp"
#include "native/refinement/kernels.cuh"
#include "native/refinement/refinement.hpp"

namespace chol::cuda {
namespace {

using backend::Columns;
using backend::Hermitian;
using refinement::kSumThreads;
using refinement::kThreads;
using refinement::kTile;

int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

refinement::Factors factors_of(const double* values, int64_t count) {
  refinement::Factors factors{};
  std::copy_n(values, count, factors.of);
  return factors;
}

/// Y := A X by cuBLAS, of one column and of several.
cublasStatus_t multiply_hermitian(cublasHandle_t blas, cublasFillMode_t triangle, int64_t n,
                                  int64_t count, const double* A, int64_t lda, const double* X,
                                  int64_t ldx, double* Y, int64_t ldy) {
  const double one = 1, zero = 0;
  if (count == 1) return cublasDsymv_64(blas, triangle, n, &one, A, lda, X, 1, &zero, Y, 1);
  return cublasDsymm_64(blas, CUBLAS_SIDE_LEFT, triangle, n, count, &one, A, lda, X, ldx, &zero, Y,
                        ldy);
}
cublasStatus_t multiply_hermitian(cublasHandle_t blas, cublasFillMode_t triangle, int64_t n,
                                  int64_t count, const std::complex<double>* A, int64_t lda,
                                  const std::complex<double>* X, int64_t ldx,
                                  std::complex<double>* Y, int64_t ldy) {
  using Z = cuDoubleComplex;
  const Z one{1, 0}, zero{0, 0};
  const auto *const a = reinterpret_cast<const Z*>(A), *const x = reinterpret_cast<const Z*>(X);
  auto* const y = reinterpret_cast<Z*>(Y);
  if (count == 1) return cublasZhemv_64(blas, triangle, n, &one, a, lda, x, 1, &zero, y, 1);
  return cublasZhemm_64(blas, CUBLAS_SIDE_LEFT, triangle, n, count, &one, a, lda, x, ldx, &zero, y,
                        ldy);
}

template <class T>
class DeviceRefinement final : public backend::Refinement<T> {
 public:
  using Low = backend::LowerPrecision<T>;
  using D = Device<T>;
  using L = Device<Low>;

  DeviceRefinement(int device, Blas& blas, cudaStream_t stream, int64_t n, Arena& arena)
      : device_(device), blas_(blas), stream_(stream) {
    sums_ = arena.take<double>(static_cast<size_t>(parts_of(n, kTile) * n));
    results_ = arena.take<double>(
        static_cast<size_t>(std::max(backend::kMostRefined, parts_of(n, kThreads))));
    flag_ = arena.take<int>(1);
  }

  Status round(const Hermitian<const T>& A, const Hermitian<Low>& to, double* norm,
               bool* overflows) override {
    const DeviceGuard guard(device_);
    const int n = static_cast<int>(A.n);
    const auto tiles = static_cast<unsigned>(parts_of(n, kTile));
    const auto parts = static_cast<unsigned>(parts_of(n, kThreads));
    Status status = status_of(cudaMemsetAsync(flag_, 0, sizeof *flag_, stream_), "overflow flag");
    if (!status.ok()) return status;
    const refinement::Rounding<D, L> call{A.uplo == CHOL_LOWER,
                                          n,
                                          reinterpret_cast<const D*>(A.A),
                                          A.ld,
                                          reinterpret_cast<L*>(to.A),
                                          to.ld,
                                          sums_,
                                          flag_};
    status = launch("round_triangle", refinement::round_triangle<D, L>, dim3(tiles, tiles),
                    kThreads, 0, stream_, call);
    if (!status.ok()) return status;
    status = launch("largest_row_sum", refinement::largest_row_sum, dim3(parts), kThreads, 0,
                    stream_, n, static_cast<int>(tiles), sums_, results_);
    if (!status.ok()) return status;
    std::vector<double> norms(parts);
    status = fetch(results_, norms.data(), parts);
    if (!status.ok()) return status;
    *norm = 0;
    for (const double x : norms) *norm = x > *norm || x != x ? x : *norm;
    int flag = 0;
    status = fetch(flag_, &flag, 1);
    *overflows = flag != 0;
    return status;
  }

  Status multiply(const Hermitian<const T>& A, const Columns<const T>& X,
                  const Columns<T>& Y) override {
    const DeviceGuard guard(device_);
    const Status status = blas_.use(stream_);
    if (!status.ok()) return status;
    const auto triangle = A.uplo == CHOL_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    return multiply_hermitian(blas_.handle(), triangle, A.n, X.count, A.A, A.ld, X.first, X.ld,
                              Y.first, Y.ld) == CUBLAS_STATUS_SUCCESS
               ? Status::success()
               : Status::error(CHOL_STATUS_DEVICE_ERROR, "cuBLAS product of a Hermitian matrix");
  }

  Status combine(const double* x, const Columns<const T>& X, const double* y,
                 const Columns<T>& Y) override {
    const DeviceGuard guard(device_);
    return launch("combine", refinement::combine<D>, grid(X.n, X.count), kThreads, 0, stream_, X.n,
                  factors_of(x, X.count), reinterpret_cast<const D*>(X.first), X.ld,
                  factors_of(y, X.count), reinterpret_cast<D*>(Y.first), Y.ld);
  }
  Status round(const double* factor, const Columns<const T>& X, const Columns<Low>& low) override {
    const DeviceGuard guard(device_);
    return launch("round_columns", refinement::round_columns<D, L>, grid(X.n, X.count), kThreads, 0,
                  stream_, X.n, factors_of(factor, X.count), reinterpret_cast<const D*>(X.first),
                  X.ld, reinterpret_cast<L*>(low.first), low.ld);
  }
  Status extend(const double* factor, const Columns<const Low>& low, const Columns<T>& X) override {
    const DeviceGuard guard(device_);
    return launch("extend_columns", refinement::extend_columns<D, L>, grid(X.n, X.count), kThreads,
                  0, stream_, X.n, factors_of(factor, X.count),
                  reinterpret_cast<const L*>(low.first), low.ld, reinterpret_cast<D*>(X.first),
                  X.ld);
  }
  Status inner(const Columns<const T>& X, const Columns<const T>& Y, double* result) override {
    const DeviceGuard guard(device_);
    const Status status =
        launch("inner_columns", refinement::inner_columns<D>, dim3(static_cast<unsigned>(X.count)),
               kSumThreads, 0, stream_, X.n, reinterpret_cast<const D*>(X.first), X.ld,
               reinterpret_cast<const D*>(Y.first), Y.ld, results_);
    return status.ok() ? fetch(results_, result, X.count) : status;
  }
  Status largest(const Columns<const T>& X, double* result) override {
    const DeviceGuard guard(device_);
    const Status status = launch("largest_of_columns", refinement::largest_of_columns<D>,
                                 dim3(static_cast<unsigned>(X.count)), kSumThreads, 0, stream_, X.n,
                                 reinterpret_cast<const D*>(X.first), X.ld, results_);
    return status.ok() ? fetch(results_, result, X.count) : status;
  }
  Status read(const int* value, int* result) override {
    const DeviceGuard guard(device_);
    return fetch(value, result, 1);
  }

 private:
  static dim3 grid(int64_t n, int64_t count) {
    return {static_cast<unsigned>(parts_of(n, kThreads)), static_cast<unsigned>(count)};
  }
  template <class U>
  Status fetch(const U* from, U* to, int64_t count) const {
    const cudaError_t error = cudaMemcpyAsync(to, from, sizeof(U) * static_cast<size_t>(count),
                                              cudaMemcpyDefault, stream_);
    return status_of(error != cudaSuccess ? error : cudaStreamSynchronize(stream_), "refinement");
  }

  int device_;
  Blas& blas_;
  cudaStream_t stream_;
  double *sums_, *results_;
  int* flag_;
};

}  // namespace

template <class T>
std::unique_ptr<backend::Refinement<T>> make_refinement(int device, Blas& blas, cudaStream_t stream,
                                                        int64_t n, Arena& arena) {
  return std::make_unique<DeviceRefinement<T>>(device, blas, stream, n, arena);
}

template std::unique_ptr<backend::Refinement<double>> make_refinement(int, Blas&, cudaStream_t,
                                                                      int64_t, Arena&);
template std::unique_ptr<backend::Refinement<std::complex<double>>> make_refinement(int, Blas&,
                                                                                    cudaStream_t,
                                                                                    int64_t,
                                                                                    Arena&);

}  // namespace chol::cuda
