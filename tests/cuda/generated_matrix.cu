#include <algorithm>
#include <cfloat>
#include <vector>

#include "common/scalar.cuh"
#include "generated_matrix.hpp"

namespace chol::test {
namespace {

using cuda::Complex;
using cuda::Real;
using cuda::Traits;

constexpr int kColumns = 16, kThreads = 256;

/// In [-1/2, 1/2), from the indices alone.
__device__ double uniform(uint64_t i, uint64_t j) {
  uint64_t x = i * 0x9E3779B97F4A7C15u + j * 0xC2B2AE3D27D4EB4Fu + 0x165667B19E3779F9u;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
  x = (x ^ x >> 32) * 0xD6E8FEB86659FD93u;
  x ^= x >> 32;
  return static_cast<double>(x >> 11) * 0x1p-53 - 0.5;
}

/// Element (i, j), i >= j.
template <class T>
__device__ T element(const GeneratedMatrix& matrix, int64_t i, int64_t j) {
  constexpr bool kSingle = sizeof(Real<T>) == 4;
  double re = 0, im = 0;
  if (matrix.kind == GeneratedMatrix::smooth) {
    const double distance = static_cast<double>(i - j) / static_cast<double>(matrix.n) * 20;
    const double nugget = matrix.nugget > 0 ? matrix.nugget : kSingle ? 3e-2 : 1e-9;
    re = exp(-distance * distance / 2) + (i == j ? nugget : 0);
  } else {
    // Eigenvalues of the off-diagonal part reach sqrt(n / 3), or sqrt(2 n / 3) for complex types.
    const double n = static_cast<double>(matrix.n);
    re = i == j ? (Traits<T>::is_complex ? 0.9 : 0.62) * sqrt(n) + 1 : uniform(i, j);
    if (Traits<T>::is_complex && i != j) im = uniform(i, j + (uint64_t{1} << 40));
    if (i == j && i == matrix.bad_row) re *= 1e-3;
    if (matrix.kind == GeneratedMatrix::graded) {
      const double range = kSingle ? 24 : 60;
      const double factor = exp2(floor(uniform(i, uint64_t{1} << 50) * range) +
                                 floor(uniform(j, uint64_t{1} << 50) * range));
      re *= factor;
      im *= factor;
    }
  }
  if constexpr (Traits<T>::is_complex)
    return {static_cast<Real<T>>(re), static_cast<Real<T>>(im)};
  else
    return static_cast<T>(re);
}

/// The strict upper triangle of A^H is that of A conjugated.
template <class T>
__global__ void write_kernel(GeneratedMatrix matrix, bool upper, T* A, int64_t lda, int64_t first,
                             int64_t end) {
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= matrix.n) return;
  for (int64_t j = first + blockIdx.y; j < end; j += gridDim.y) {
    T x = cuda::from_real<T>(0);
    if (!upper && i >= j) x = element<T>(matrix, i, j);
    if (upper && i <= j) x = cuda::conj(element<T>(matrix, j, i));
    A[(j - first) * lda + i] = x;
  }
}

/// An unevaluated sum of two numbers (Dekker, 1971).
struct TwoSum {
  double high = 0, low = 0;

  __device__ void add(double x, double its_error) {
    const double sum = high + x, back = sum - high;
    const double error = (high - (sum - back)) + (x - back) + low + its_error;
    high = sum + error;
    low = error - (high - sum);
  }
  __device__ void add_product(double x, double y) {
    const double product = x * y;
    add(product, fma(x, y, -product));
  }
};

template <class T>
__device__ double real_part(T x) {
  return static_cast<double>(cuda::real(x));
}
template <class T>
__device__ double imaginary_part(T x) {
  if constexpr (Traits<T>::is_complex)
    return static_cast<double>(x.im);
  else
    return 0;
}

/// Of one column a thread a row: |A - L L^H|, |A|, and the first over sqrt(a_ii a_jj).
template <class T>
__global__ void residual_kernel(GeneratedMatrix matrix, bool upper, const T* L, int64_t lda,
                                const int64_t* columns, double* residual, double* size,
                                double* scaled) {
  const int64_t n = matrix.n, i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const int64_t j = columns[blockIdx.y], row = i > j ? i : j, column = i > j ? j : i;
  const T a = element<T>(matrix, row, column);
  TwoSum re, im;
  re.add(real_part(a), 0);
  im.add(imaginary_part(a), 0);
  for (int64_t k = 0; k <= column; ++k) {
    const T x = upper ? L[row * lda + k] : L[k * lda + row];
    const T y = upper ? L[column * lda + k] : L[k * lda + column];
    const double xr = real_part(x), yr = real_part(y);
    // Of the upper factor these are the conjugates.
    const double xi = upper ? -imaginary_part(x) : imaginary_part(x);
    const double yi = upper ? -imaginary_part(y) : imaginary_part(y);
    re.add_product(-xr, yr);
    if (!Traits<T>::is_complex) continue;
    re.add_product(-xi, yi);
    im.add_product(-xi, yr);
    im.add_product(xr, yi);
  }
  const int64_t at = blockIdx.y * n + i;
  residual[at] = hypot(re.high + re.low, im.high + im.low);
  size[at] = hypot(real_part(a), imaginary_part(a));
  scaled[at] = residual[at] /
               sqrt(real_part(element<T>(matrix, i, i)) * real_part(element<T>(matrix, j, j)));
}

template <class T>
cudaError_t measure(const GeneratedMatrix& matrix, bool upper, const T* L, int64_t lda,
                    SampledResidual* result) {
  const int64_t n = matrix.n;
  std::vector<int64_t> columns;
  for (int k = 0; k < kColumns; ++k) columns.push_back(k * (n - 1) / (kColumns - 1));
  int64_t* device_columns = nullptr;
  double* values = nullptr;
  cudaError_t error = cudaMalloc(&device_columns, sizeof(int64_t) * kColumns);
  if (error == cudaSuccess) error = cudaMalloc(&values, sizeof(double) * 3 * kColumns * n);
  if (error == cudaSuccess)
    error = cudaMemcpy(device_columns, columns.data(), sizeof(int64_t) * kColumns,
                       cudaMemcpyHostToDevice);
  std::vector<double> host(3 * kColumns * n);
  if (error == cudaSuccess) {
    const dim3 grid(static_cast<unsigned>((n + kThreads - 1) / kThreads), kColumns);
    residual_kernel<T><<<grid, kThreads>>>(matrix, upper, L, lda, device_columns, values,
                                           values + kColumns * n, values + 2 * kColumns * n);
    error = cudaMemcpy(host.data(), values, sizeof(double) * host.size(), cudaMemcpyDeviceToHost);
  }
  cudaFree(values);
  cudaFree(device_columns);
  const double eps = sizeof(Real<T>) == 4 ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
  double largest = 0, norm = 0, scaled = 0;
  for (int k = 0; k < kColumns; ++k) {
    double sum = 0, of_a = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += host[k * n + i];
      of_a += host[(kColumns + k) * n + i];
      // Written so that a NaN is kept.
      if (!(host[(2 * kColumns + k) * n + i] <= scaled)) scaled = host[(2 * kColumns + k) * n + i];
    }
    if (!(sum <= largest)) largest = sum;
    norm = std::max(norm, of_a);
  }
  *result = {largest / (static_cast<double>(n) * norm * eps), scaled / eps};
  return error;
}

template <class T>
cudaError_t write_as(const GeneratedMatrix& matrix, bool upper, void* A, int64_t lda, int64_t first,
                     int64_t columns, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((matrix.n + kThreads - 1) / kThreads),
                  static_cast<unsigned>(std::min<int64_t>(columns, 32768)));
  write_kernel<T><<<grid, kThreads, 0, stream>>>(matrix, upper, static_cast<T*>(A), lda, first,
                                                 first + columns);
  return cudaGetLastError();
}

}  // namespace

cudaError_t GeneratedMatrix::write_columns(char type, bool upper, void* A, int64_t lda,
                                           int64_t first, int64_t columns,
                                           cudaStream_t stream) const {
  switch (type) {
    case 's':
      return write_as<float>(*this, upper, A, lda, first, columns, stream);
    case 'd':
      return write_as<double>(*this, upper, A, lda, first, columns, stream);
    case 'c':
      return write_as<Complex<float>>(*this, upper, A, lda, first, columns, stream);
    default:
      return write_as<Complex<double>>(*this, upper, A, lda, first, columns, stream);
  }
}

cudaError_t sampled_residual(const GeneratedMatrix& matrix, char type, bool upper, const void* L,
                             int64_t lda, SampledResidual* residual) {
  const auto as = [&]<class T>(T) {
    return measure(matrix, upper, static_cast<const T*>(L), lda, residual);
  };
  switch (type) {
    case 's':
      return as(float{});
    case 'd':
      return as(double{});
    case 'c':
      return as(Complex<float>{});
    default:
      return as(Complex<double>{});
  }
}

}  // namespace chol::test
