// Covariances of points, evaluated without a dense matrix.
#pragma once

#include "backend/covariance.hpp"
#include "common/scalar.cuh"
#include "tlr/bessel.hpp"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

inline constexpr int kCovarianceThreads = 256;
/// Columns per block.
inline constexpr int kCovarianceColumns = 32;

/// The constant term of the logarithm of a Matern function.
inline double log_matern_scale(const backend::Covariance& c) {
  return (1 - c.nu) * std::log(2.0) - std::lgamma(c.nu);
}

__device__ __forceinline__ double covariance_at(const backend::Covariance& c, double log_scale,
                                                double square) {
  if (c.kind == CHOL_KERNEL_SQUARED_EXPONENTIAL) return c.variance * exp(-0.5 * square);
  const double r = sqrt(square);
  if (c.kind == CHOL_KERNEL_EXPONENTIAL || c.nu == 0.5) return c.variance * exp(-r);
  const double x = sqrt(2 * c.nu) * r;
  if (c.nu == 1.5) return c.variance * exp(-x) * (1 + x);
  if (c.nu == 2.5) return c.variance * exp(-x) * (1 + x + x * x / 3);
  return matern(c.nu, x, log_scale, c.variance);
}

__device__ __forceinline__ double squared_distance(const backend::Covariance& c, int64_t i,
                                                   int64_t j) {
  double sum = 0;
  for (int d = 0; d < c.dim; ++d) {
    const double step = c.coordinates[d * c.n + i] - c.coordinates[d * c.n + j];
    sum += step * step;
  }
  return sum;
}

/// Evaluates blocks of the matrix: threads along rows, block.y over groups of columns, block.z over
/// items.
template <class T>
__global__ void __launch_bounds__(kCovarianceThreads)
    covariance_kernel(backend::Covariance c, double log_scale,
                      const BlockItem* __restrict__ items) {
  const BlockItem item = items[blockIdx.z];
  const int64_t i = int64_t{blockIdx.x} * kCovarianceThreads + threadIdx.x;
  if (i >= item.rows) return;
  T* const column = static_cast<T*>(item.elements) + i;
  const int64_t first = int64_t{blockIdx.y} * kCovarianceColumns;
  const int64_t end = smaller(first + kCovarianceColumns, item.columns);
  for (int64_t j = first; j < end; ++j) {
    const int64_t row = item.row + i, at = item.column + j;
    double value = covariance_at(c, log_scale, squared_distance(c, row, at));
    if (row == at) value += c.nugget;
    column[j * item.ld] = from_real<T>(static_cast<Real<T>>(value));
  }
}

/// partial[y * n + i]: the sum of row i over the columns of part y.
template <class T>
__global__ void __launch_bounds__(kCovarianceThreads)
    covariance_product_kernel(backend::Covariance c, double log_scale, const T* __restrict__ x,
                              T* __restrict__ partial) {
  const int64_t i = int64_t{blockIdx.x} * kCovarianceThreads + threadIdx.x;
  const int64_t part = (c.n + gridDim.y - 1) / gridDim.y;
  const int64_t first = int64_t{blockIdx.y} * part, end = smaller(first + part, c.n);
  if (i >= c.n) return;
  T sum = from_real<T>(0);
  for (int64_t j = first; j < end; ++j) {
    double value = covariance_at(c, log_scale, squared_distance(c, i, j));
    if (i == j) value += c.nugget;
    sum = add_scaled(sum, x[j], static_cast<Real<T>>(value));
  }
  partial[blockIdx.y * c.n + i] = sum;
}
template <class T>
__global__ void sum_parts_kernel(const T* __restrict__ partial, int parts, int64_t n,
                                 T* __restrict__ y) {
  const int64_t i = int64_t{blockIdx.x} * kCovarianceThreads + threadIdx.x;
  if (i >= n) return;
  T sum = from_real<T>(0);
  for (int p = 0; p < parts; ++p) sum = add(sum, partial[p * n + i]);
  y[i] = sum;
}

}  // namespace chol::cuda::tlr
