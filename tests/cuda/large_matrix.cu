#include <cmath>
#include <vector>

#include "large_matrix.hpp"

namespace chol::test {
namespace {

constexpr double kElsewhere = -77;
constexpr int kThreads = 256;

struct Number {
  double re, im;
};
__device__ Number conjugate(Number x) { return {x.re, -x.im}; }
__device__ Number multiply(Number x, Number y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
__device__ void add(Number& sum, Number x) {
  sum.re += x.re;
  sum.im += x.im;
}

/// In (-0.5, 0.5), depends on the position only.
__device__ double random_number(uint64_t i, uint64_t j, uint64_t part) {
  uint64_t x = i * 0x9E3779B97F4A7C15u ^ (j + 1) * 0xBF58476D1CE4E5B9u ^ part << 62;
  x = (x ^ x >> 31) * 0x94D049BB133111EBu;
  x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
  x ^= x >> 32;
  return (double(x >> 11) + 0.5) * 0x1p-53 - 0.5;
}
/// Element (i, j) of the matrix, as stored.
template <class R>
__device__ Number given(const LargeMatrix<R>& A, int64_t i, int64_t j) {
  if (i == j) return {double(R(A.n)), 0};
  const int64_t low = i > j ? i : j, high = i > j ? j : i;
  const double im = A.parts == 2 ? R(random_number(low, high, 1)) : R(0);
  return {double(R(random_number(low, high, 0))), i > j ? im : -im};
}
/// Address of element (row, column) of the array.
template <class R>
__device__ R* place(const LargeMatrix<R>& A, int64_t row, int64_t column) {
  return A.a + A.parts * (row + column * A.ld);
}
template <class R>
__device__ bool is_named(const LargeMatrix<R>& A, int64_t row, int64_t column) {
  return row < A.n && (A.upper ? row <= column : row >= column);
}
/// L(i, j), i >= j, of the factor L or U = L^H.
template <class R>
__device__ Number factor(const LargeMatrix<R>& A, int64_t i, int64_t j) {
  const R* const p = A.upper ? place(A, j, i) : place(A, i, j);
  if (A.parts == 1) return {double(p[0]), 0};
  return {double(p[0]), A.upper ? -double(p[1]) : double(p[1])};
}

template <class R>
__global__ void fill_kernel(LargeMatrix<R> A) {
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int64_t column = blockIdx.y; column < A.n; column += gridDim.y)
    for (int64_t row = first; row < A.ld; row += step) {
      R* const p = place(A, row, column);
      const bool named = is_named(A, row, column);
      const Number x = named ? given(A, row, column) : Number{kElsewhere, kElsewhere};
      p[0] = R(x.re);
      if (A.parts == 2) p[1] = R(x.im);
    }
}
template <class R>
__global__ void count_kernel(LargeMatrix<R> A, unsigned long long* changed) {
  unsigned long long count = 0;
  const int64_t step = int64_t(gridDim.x) * blockDim.x;
  const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int64_t column = blockIdx.y; column < A.n; column += gridDim.y)
    for (int64_t row = first; row < A.ld; row += step) {
      if (is_named(A, row, column)) continue;
      for (int part = 0; part < A.parts; ++part)
        count += !(place(A, row, column)[part] == R(kElsewhere));
    }
  if (count) atomicAdd(changed, count);
}

/// The sum over a block's threads, in a fixed order.
__device__ double sum_of_block(double x) {
  __shared__ double part[kThreads];
  __syncthreads();
  part[threadIdx.x] = x;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  __syncthreads();
  return part[0];
}
__device__ Number vector_element(int64_t i) {
  return {random_number(i, 12345678, 2), random_number(i, 12345678, 3)};
}
/// y = L^H x, a block an element.
template <class R>
__global__ void adjoint_kernel(LargeMatrix<R> A, Number* y) {
  for (int64_t j = blockIdx.x; j < A.n; j += gridDim.x) {
    Number sum{0, 0};
    for (int64_t i = j + threadIdx.x; i < A.n; i += blockDim.x)
      add(sum, multiply(conjugate(factor(A, i, j)), vector_element(i)));
    const double re = sum_of_block(sum.re), im = sum_of_block(sum.im);
    if (threadIdx.x == 0) y[j] = {re, im};
  }
}
/// |A x - L y|, |x| and the norm of a row of A, of each row.
template <class R>
__global__ void difference_kernel(LargeMatrix<R> A, const Number* y, double* results) {
  for (int64_t i = blockIdx.x; i < A.n; i += gridDim.x) {
    Number sum{0, 0};
    double norm = 0;
    for (int64_t j = threadIdx.x; j < A.n; j += blockDim.x) {
      if (j <= i) {
        const Number product = multiply(factor(A, i, j), y[j]);
        add(sum, {-product.re, -product.im});
      }
      const Number a = given(A, i, j);
      add(sum, multiply(a, vector_element(j)));
      norm += sqrt(a.re * a.re + a.im * a.im);
    }
    const double re = sum_of_block(sum.re), im = sum_of_block(sum.im);
    const double total = sum_of_block(norm);
    const Number x = vector_element(i);
    if (threadIdx.x == 0) {
      results[3 * i] = sqrt(re * re + im * im);
      results[3 * i + 1] = sqrt(x.re * x.re + x.im * x.im);
      results[3 * i + 2] = total;
    }
  }
}

struct DeviceMemory {
  void* data = nullptr;
  cudaError_t error;
  explicit DeviceMemory(size_t bytes) : error(cudaMalloc(&data, bytes)) {}
  ~DeviceMemory() { cudaFree(data); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
};
const dim3 kGrid(16, 1024);

}  // namespace

template <class R>
cudaError_t LargeMatrix<R>::fill() const {
  fill_kernel<<<kGrid, kThreads>>>(*this);
  return cudaDeviceSynchronize();
}
template <class R>
cudaError_t LargeMatrix<R>::count_changed(unsigned long long* changed) const {
  const DeviceMemory count(sizeof *changed);
  if (count.error != cudaSuccess) return count.error;
  auto* const device = static_cast<unsigned long long*>(count.data);
  cudaMemset(device, 0, sizeof *changed);
  count_kernel<<<kGrid, kThreads>>>(*this, device);
  return cudaMemcpy(changed, device, sizeof *changed, cudaMemcpyDeviceToHost);
}
template <class R>
cudaError_t LargeMatrix<R>::residual(double epsilon, double* ratio) const {
  const DeviceMemory y(sizeof(Number) * n), results(sizeof(double) * 3 * n);
  if (results.error != cudaSuccess) return results.error;
  adjoint_kernel<<<4096, kThreads>>>(*this, static_cast<Number*>(y.data));
  difference_kernel<<<4096, kThreads>>>(*this, static_cast<const Number*>(y.data),
                                        static_cast<double*>(results.data));
  std::vector<double> rows(3 * n);
  const cudaError_t error =
      cudaMemcpy(rows.data(), results.data, sizeof(double) * 3 * n, cudaMemcpyDeviceToHost);
  double difference = 0, size = 0, norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    difference += rows[3 * i];
    size += rows[3 * i + 1];
    norm = std::fmax(norm, rows[3 * i + 2]);
  }
  *ratio = difference / (double(n) * norm * size * epsilon);
  return error;
}

template struct LargeMatrix<float>;
template struct LargeMatrix<double>;

}  // namespace chol::test
