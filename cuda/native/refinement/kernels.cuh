// Kernels of refinement: a triangle rounded with the norm of its matrix, operations on columns.
#pragma once

#include "backend/refinement.hpp"
#include "common/scalar.cuh"

namespace chol::cuda::refinement {

constexpr int kTile = 64;  ///< rows and columns of a matrix that a block rounds
constexpr int kWarps = 8;
constexpr int kThreads = 32 * kWarps;
constexpr int kSumThreads = 1024;  ///< of a block that adds up a column

/// Factors of columns, as kernel arguments.
struct Factors {
  double of[backend::kMostRefined];
};

__device__ inline double absolute(double x) { return fabs(x); }
__device__ inline double absolute(Complex<double> x) { return hypot(x.re, x.im); }
__device__ inline double largest_part(double x) { return fabs(x); }
__device__ inline double largest_part(Complex<double> x) { return fmax(fabs(x.re), fabs(x.im)); }
__device__ inline double sum_of_parts(double x) { return fabs(x); }
__device__ inline double sum_of_parts(Complex<double> x) { return fabs(x.re) + fabs(x.im); }
__device__ inline float rounded(double x) { return static_cast<float>(x); }
__device__ inline Complex<float> rounded(Complex<double> x) {
  return {static_cast<float>(x.re), static_cast<float>(x.im)};
}
__device__ inline double extended(float x) { return x; }
__device__ inline Complex<double> extended(Complex<float> x) { return {x.re, x.im}; }
/// The larger of two, or NaN if one is.
__device__ inline double larger_or_nan(double x, double y) { return x > y || x != x ? x : y; }

/// Reduction of one value a thread of the block, by halves; thread 0 gets the result.
template <int kBlock, class Combine>
__device__ double reduce_block(double value, const Combine& combine) {
  __shared__ double values[kBlock];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (threadIdx.x < step)
      values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + step]);
    __syncthreads();
  }
  return values[0];
}
struct Larger {
  __device__ double operator()(double x, double y) const { return larger_or_nan(y, x); }
};
struct Sum {
  __device__ double operator()(double x, double y) const { return x + y; }
};

template <class T, class Low>
struct Rounding {
  bool lower;
  int n;
  const T* A;
  int64_t lda;
  Low* to;
  int64_t ldt;
  /// sums[s * n + i]: absolute values of row i in tile s of that row. Those stored in columns count
  /// as well.
  double* sums;
  int* overflows;  ///< set to 1
};

/// Block (s, t) takes the tile of row tile s and column tile t.
template <class T, class Low>
__global__ void __launch_bounds__(kThreads) round_triangle(Rounding<T, Low> call) {
  const int row_tile = blockIdx.x, column_tile = blockIdx.y;
  if (call.lower ? row_tile < column_tile : row_tile > column_tile) return;
  __shared__ double row_sums[kWarps][kTile], column_sums[kTile];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = row_tile * kTile, column = column_tile * kTile;
  double of_rows[2] = {0, 0};
  bool overflows = false;
  for (int c = warp; c < kTile; c += kWarps) {
    const int j = column + c;
    double of_column = 0;
    for (int half = 0; half < 2; ++half) {
      const int i = row + lane + 32 * half;
      if (i >= call.n || j >= call.n || (call.lower ? i < j : i > j)) continue;
      T x = call.A[i + j * call.lda];
      if (i == j) x = from_real<T>(real(x));
      const double size = absolute(x);
      of_rows[half] += size;
      if (i != j) of_column += size;
      overflows = overflows || largest_part(x) > double(FLT_MAX);
      call.to[i + j * call.ldt] = rounded(x);
    }
    for (int step = 16; step > 0; step /= 2)
      of_column += __shfl_xor_sync(0xffffffffu, of_column, step);
    if (lane == 0) column_sums[c] = of_column;
  }
  row_sums[warp][lane] = of_rows[0];
  row_sums[warp][lane + 32] = of_rows[1];
  if (overflows) *call.overflows = 1;
  __syncthreads();
  const int i = threadIdx.x;
  if (i >= kTile) return;
  double sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += row_sums[w][i];
  if (row_tile == column_tile) sum += column_sums[i];
  if (row + i < call.n) call.sums[int64_t(column_tile) * call.n + row + i] = sum;
  if (row_tile != column_tile && column + i < call.n)
    call.sums[int64_t(row_tile) * call.n + column + i] = column_sums[i];
}

/// norms[block]: the largest sum over all tiles of one of the block's rows.
__global__ inline void __launch_bounds__(kThreads)
    largest_row_sum(int n, int tiles, const double* sums, double* norms) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  double sum = 0;
  if (i < n)
    for (int tile = 0; tile < tiles; ++tile) sum += sums[int64_t(tile) * n + i];
  const double largest = reduce_block<kThreads>(sum, Larger());
  if (threadIdx.x == 0) norms[blockIdx.x] = largest;
}

/// Of element i of column j; the grid has a row of blocks for each column.
template <class T>
__global__ void __launch_bounds__(kThreads)
    combine(int64_t n, Factors x, const T* X, int64_t ldx, Factors y, T* Y, int64_t ldy) {
  const int j = blockIdx.y;
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  T sum = scale(X[i + j * ldx], x.of[j]);
  if (y.of[j] != 0) sum = add(sum, scale(Y[i + j * ldy], y.of[j]));
  Y[i + j * ldy] = sum;
}
template <class T, class Low>
__global__ void __launch_bounds__(kThreads)
    round_columns(int64_t n, Factors factor, const T* X, int64_t ldx, Low* low, int64_t ldl) {
  const int j = blockIdx.y;
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) low[i + j * ldl] = rounded(scale(X[i + j * ldx], factor.of[j]));
}
template <class T, class Low>
__global__ void __launch_bounds__(kThreads)
    extend_columns(int64_t n, Factors factor, const Low* low, int64_t ldl, T* X, int64_t ldx) {
  const int j = blockIdx.y;
  const int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) X[i + j * ldx] = scale(extended(low[i + j * ldl]), factor.of[j]);
}

/// Inner products with y, or without y the largest elements.
template <class T>
struct Measures {
  int64_t n;
  struct {
    const T *x, *y;
    int64_t ldx, ldy;
    double* results;
  } each[backend::kMostMeasures];
};
/// A block: column blockIdx.x of measure blockIdx.y.
template <class T>
__global__ void __launch_bounds__(kSumThreads) measure_columns(Measures<T> call) {
  const auto& own = call.each[blockIdx.y];
  const T* const x = own.x + blockIdx.x * own.ldx;
  double result = 0;
  if (own.y != nullptr) {
    const T* const y = own.y + blockIdx.x * own.ldy;
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < call.n; i += kSumThreads) {
      if constexpr (Traits<T>::is_complex)
        result = fma(x[i].re, y[i].re, fma(x[i].im, y[i].im, result));
      else
        result = fma(x[i], y[i], result);
    }
    result = reduce_block<kSumThreads>(result, Sum());
  } else {
#pragma unroll 8
    for (int64_t i = threadIdx.x; i < call.n; i += kSumThreads)
      result = larger_or_nan(sum_of_parts(x[i]), result);
    result = reduce_block<kSumThreads>(result, Larger());
  }
  if (threadIdx.x == 0) own.results[blockIdx.x] = result;
}

}  // namespace chol::cuda::refinement
