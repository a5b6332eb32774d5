// The product of a Hermitian matrix and a vector of cuda/native/refinement on the host, against one
// that forms every element's product.
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <vector>

#include "elements.hpp"
#include "native/refinement/multiply.cuh"

namespace chol::cuda {

alignas(128) unsigned char shared[1];

namespace refinement {
namespace {

int failures = 0;

void expect(bool good, const char* what, int n, bool lower, double value) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: n %d, %s, value %g\n", what, n, lower ? "lower" : "upper", value);
}

std::complex<double> number(double x) { return x; }
std::complex<double> number(Complex<double> x) { return {x.re, x.im}; }

/// Element (i, j) of the matrix, from the stored triangle.
template <class T>
std::complex<double> element(const std::vector<T>& A, int64_t lda, bool lower, int i, int j) {
  if (i == j) return real(A[i + i * lda]);
  const bool is_stored = lower ? i > j : i < j;
  return is_stored ? number(A[i + j * lda]) : std::conj(number(A[j + i * lda]));
}

template <class T>
void multiply(int n, bool lower, bool backwards) {
  using Product = HermitianProduct<T>;
  const int64_t lda = n + 3;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<T> A(size_t(lda) * n, from_real<T>(nan)), x(n), y(n, from_real<T>(nan));
  for (int j = 0; j < n; ++j)
    for (int i = lower ? j : 0; i < (lower ? n : j + 1); ++i) A[i + j * lda] = random_element<T>();
  for (T& value : x) value = random_element<T>();
  // Tiles that are not stored have no sums, which must not be read.
  std::vector<T> sums(Product::sums(n), from_real<T>(nan));
  const int row_tiles = Product::row_tiles(n), column_tiles = Product::column_tiles(n);
  const Product call{
      lower, n, A.data(), lda, x.data(), sums.data(), sums.data() + int64_t{column_tiles} * n};
  for (int block = 0; block < row_tiles * column_tiles; ++block)
    HostBlock(Product::kThreads, backwards).run([&] { multiply_tiles<T>(call); }, block);
  for (int block = 0; block < (n + 31) / 32; ++block)
    HostBlock(Product::kThreads, backwards).run([&] { add_tiles<T>(call, y.data()); }, block);
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    std::complex<double> sum = 0;
    for (int j = 0; j < n; ++j) sum += element(A, lda, lower, i, j) * number(x[j]);
    const double error = std::abs(sum - number(y[i]));
    if (!(error <= worst)) worst = error;
  }
  expect(worst < 1e-15 * n, "product", n, lower, worst);
}

int run() {
  for (const int n : orders_to_try({1, 31, 128, 129, 500, 512, 513, 1100}, {129, 700}))
    for (const bool lower : {false, true}) {
      multiply<double>(n, lower, n % 2 == 0);
      multiply<Complex<double>>(n, lower, n % 2 == 1);
    }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace refinement
}  // namespace chol::cuda

int main() { return chol::cuda::refinement::run(); }
