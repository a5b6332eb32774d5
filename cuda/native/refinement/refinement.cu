#include <algorithm>
#include <complex>
#include <vector>

#include "common/device_type.hpp"
#include "common/launch.hpp"
#include "native/refinement/kernels.cuh"
#include "native/refinement/multiply.cuh"
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

/// Y := A X by cuBLAS.
cublasStatus_t multiply_hermitian(cublasHandle_t blas, cublasFillMode_t triangle, int64_t n,
                                  int64_t count, const double* A, int64_t lda, const double* X,
                                  int64_t ldx, double* Y, int64_t ldy) {
  const double one = 1, zero = 0;
  return cublasDsymm_64(blas, CUBLAS_SIDE_LEFT, triangle, n, count, &one, A, lda, X, ldx, &zero, Y,
                        ldy);
}
cublasStatus_t multiply_hermitian(cublasHandle_t blas, cublasFillMode_t triangle, int64_t n,
                                  int64_t count, const std::complex<double>* A, int64_t lda,
                                  const std::complex<double>* X, int64_t ldx,
                                  std::complex<double>* Y, int64_t ldy) {
  using Z = cuDoubleComplex;
  const Z one{1, 0}, zero{0, 0};
  return cublasZhemm_64(blas, CUBLAS_SIDE_LEFT, triangle, n, count, &one,
                        reinterpret_cast<const Z*>(A), lda, reinterpret_cast<const Z*>(X), ldx,
                        &zero, reinterpret_cast<Z*>(Y), ldy);
}

template <class T>
class DeviceRefinement final : public backend::Refinement<T> {
 public:
  using Low = backend::LowerPrecision<T>;
  using D = Device<T>;
  using L = Device<Low>;
  using Product = refinement::HermitianProduct<D>;

  DeviceRefinement(int device, Blas& blas, cudaStream_t stream, int64_t n, Arena& arena)
      : device_(device), blas_(blas), stream_(stream) {
    // Sums of the absolute values of rows, and later of the products of tiles.
    const int64_t of_norm = parts_of(n, kTile) * n * int64_t{sizeof(double)};
    const int64_t of_product = Product::sums(static_cast<int>(n)) * int64_t{sizeof(T)};
    sums_ = arena.take<double>(static_cast<size_t>(std::max(of_norm, of_product)) / sizeof(double));
    results_ = arena.take<double>(static_cast<size_t>(
        std::max(backend::kMostMeasures * backend::kMostRefined, parts_of(n, kThreads))));
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
    if (X.count == 1) return multiply_one(A, X.first, Y.first);
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
  Status measure(std::span<const backend::Measure<T>> measures) override {
    const DeviceGuard guard(device_);
    const int64_t columns = measures[0].X.count;
    refinement::Measures<D> call{measures[0].X.n, {}};
    for (size_t k = 0; k < measures.size(); ++k) {
      const Columns<const T>&X = measures[k].X, &Y = measures[k].Y;
      call.each[k] = {reinterpret_cast<const D*>(X.first), reinterpret_cast<const D*>(Y.first),
                      X.ld, Y.ld, results_ + k * columns};
    }
    const dim3 blocks(static_cast<unsigned>(columns), static_cast<unsigned>(measures.size()));
    Status status = launch("measure_columns", refinement::measure_columns<D>, blocks, kSumThreads,
                           0, stream_, call);
    if (!status.ok()) return status;
    double results[backend::kMostMeasures * backend::kMostRefined];
    status = fetch(results_, results, columns * static_cast<int64_t>(measures.size()));
    if (status.ok())
      for (size_t k = 0; k < measures.size(); ++k)
        std::copy_n(results + k * columns, columns, measures[k].result);
    return status;
  }
  Status read(const int* value, int* result) override {
    const DeviceGuard guard(device_);
    return fetch(value, result, 1);
  }

 private:
  static dim3 grid(int64_t n, int64_t count) {
    return {static_cast<unsigned>(parts_of(n, kThreads)), static_cast<unsigned>(count)};
  }
  Status multiply_one(const Hermitian<const T>& A, const T* x, T* y) {
    const auto n = static_cast<int>(A.n);
    const int row_tiles = Product::row_tiles(n), column_tiles = Product::column_tiles(n);
    D* const of_rows = reinterpret_cast<D*>(sums_);
    const Product call{
        A.uplo == CHOL_LOWER,          n,       reinterpret_cast<const D*>(A.A),    A.ld,
        reinterpret_cast<const D*>(x), of_rows, of_rows + int64_t{column_tiles} * n};
    const dim3 tiles(static_cast<unsigned>(row_tiles * column_tiles));
    const Status status = launch("multiply_tiles", refinement::multiply_tiles<D>, tiles,
                                 Product::kThreads, 0, stream_, call);
    if (!status.ok()) return status;
    return launch("add_tiles", refinement::add_tiles<D>,
                  dim3(static_cast<unsigned>(parts_of(n, 32))), Product::kThreads, 0, stream_, call,
                  reinterpret_cast<D*>(y));
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
