// Times of the steps of dsposv and zcposv: the factor and the solution in single precision, and the
// product of the matrix and a vector compared with cuBLAS's: bench_refinement precisions n,n,...
// [file.csv [repetitions]]
#include <cmath>

#include "common/device_type.hpp"
#include "generated_matrix.hpp"
#include "large_peer.hpp"
#include "native/refinement/multiply.cuh"

namespace chol::bench {
namespace {

using cuda::refinement::HermitianProduct;

void multiply_by_blas(cublasFillMode_t uplo, int64_t n, const double* A, const double* x,
                      double* y) {
  const double one = 1, zero = 0;
  peer(cublasDsymv_64(blas, uplo, n, &one, A, n, x, 1, &zero, y, 1));
}
void multiply_by_blas(cublasFillMode_t uplo, int64_t n, const std::complex<double>* A,
                      const std::complex<double>* x, std::complex<double>* y) {
  using Z = cuDoubleComplex;
  const Z one{1, 0}, zero{0, 0};
  peer(cublasZhemv_64(blas, uplo, n, &one, reinterpret_cast<const Z*>(A), n,
                      reinterpret_cast<const Z*>(x), 1, &zero, reinterpret_cast<Z*>(y), 1));
}

template <class T>
void multiply(chol_uplo_t uplo, int64_t n, const T* A, const T* x, T* y, T* sums) {
  using D = cuda::Device<T>;
  using Product = HermitianProduct<D>;
  const int order = static_cast<int>(n), columns = Product::column_tiles(order);
  D* const of_rows = reinterpret_cast<D*>(sums);
  const Product call{uplo == CHOL_LOWER,
                     order,
                     reinterpret_cast<const D*>(A),
                     n,
                     reinterpret_cast<const D*>(x),
                     of_rows,
                     of_rows + columns * n};
  cuda::refinement::multiply_tiles<D>
      <<<Product::row_tiles(order) * columns, Product::kThreads, 0, stream>>>(call);
  cuda::refinement::add_tiles<D>
      <<<(order + 31) / 32, Product::kThreads, 0, stream>>>(call, reinterpret_cast<D*>(y));
  CHOL_TEST_CUDA(cudaGetLastError());
}

/// Milliseconds of the factor and of the solution with one right-hand side.
template <class Low>
void single(chol_uplo_t uplo, int64_t n, double* factor_ms, double* solve_ms) {
  DeviceArray<Low> A(size_t(n) * n), b(std::vector<Low>(n, Low(1)));
  DeviceArray<int> info(1);
  const test::GeneratedMatrix matrix{test::GeneratedMatrix::random, n};
  ours(chol_set_math_mode(handle, CHOL_MATH_TENSOR));
  const char letter = letter_of(Low{});
  *factor_ms = median_ms(
      [&] { CHOL_TEST_CUDA(matrix.write(letter, uplo == CHOL_UPPER, A.data(), n, stream)); },
      [&] { ours(test::potrf_of(Low{})(handle, uplo, n, A.data(), n, info.data())); });
  *solve_ms = median_ms(
      [] {}, [&] { ours(test::potrs_of(Low{})(handle, uplo, n, 1, A.data(), n, b.data(), n)); });
}

template <class T>
void bench(chol_uplo_t uplo, int64_t n) {
  using Low = std::conditional_t<sizeof(T) == 8, float, std::complex<float>>;
  double factor_ms = 0, solve_ms = 0;
  single<Low>(uplo, n, &factor_ms, &solve_ms);
  const char letter = letter_of(T{});
  const bool upper = uplo == CHOL_UPPER;
  DeviceArray<T> A(size_t(n) * n), y(n), z(n);
  std::vector<T> host(n);
  std::mt19937_64 engine(1);
  for (T& x : host) x = test::random_element<T>(engine);
  const DeviceArray<T> x(host);
  DeviceArray<T> sums(HermitianProduct<cuda::Device<T>>::sums(static_cast<int>(n)));
  const test::GeneratedMatrix matrix{test::GeneratedMatrix::random, n};
  CHOL_TEST_CUDA(matrix.write(letter, upper, A.data(), n, stream));
  const auto fill = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  const double own_ms =
      median_ms([] {}, [&] { multiply(uplo, n, A.data(), x.data(), y.data(), sums.data()); });
  const double blas_ms =
      median_ms([] {}, [&] { multiply_by_blas(fill, n, A.data(), x.data(), z.data()); });
  const std::vector<T> own = y.get(), other = z.get();
  double difference = 0, size = 0;
  for (int64_t i = 0; i < n; ++i) {
    difference = std::max(difference, double(std::abs(own[i] - other[i])));
    size = std::max(size, double(std::abs(other[i])));
  }
  char line[256];
  std::snprintf(line, sizeof line, "%c,%c,%lld,%.3f,%.3f,%.4f,%.4f,%.0f,%.0f,%.1e", letter,
                static_cast<char>(uplo), static_cast<long long>(n), factor_ms, solve_ms, own_ms,
                blas_ms, triangle_sectors(n, sizeof(T)) / own_ms * 1e-6,
                triangle_sectors(n, sizeof(T)) / blas_ms * 1e-6, difference / size);
  print_line(line);
}

}  // namespace
}  // namespace chol::bench

int main(int argc, char** argv) {
  using namespace chol::bench;
  return run_cases(
      argc, argv, 3, "bench_refinement precisions n,n,... [file.csv [repetitions]]",
      "precision,uplo,n,factor_ms,solve_ms,multiply_ms,cublas_ms,gbytes,cublas_gbytes,difference",
      []<class T>(T, int64_t n) {
        if (!blas) {
          peer(cublasCreate(&blas));
          peer(cublasSetStream(blas, stream));
        }
        if constexpr (sizeof(Real<T>) == sizeof(double))
          for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) bench<T>(uplo, n);
      });
}
