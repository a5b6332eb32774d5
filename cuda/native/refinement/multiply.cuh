// The product of a Hermitian matrix, one triangle of which is stored, and a vector: the triangle is
// read once, and the order of all sums is fixed.
#pragma once

#include "common/scalar.cuh"

namespace chol::cuda::refinement {

template <class T>
struct HermitianProduct {
  // Rows and columns of a tile, which a block multiplies, and columns whose sums a warp keeps in
  // registers.
  static constexpr int kRows = 512, kColumns = 128;
  static constexpr int kGroup = Traits<T>::is_complex ? 16 : 32;
  static constexpr int kWarps = 8, kThreads = 32 * kWarps;

  bool lower;
  int n;
  const T* A;
  int64_t lda;
  const T* x;
  /// of_rows[t n + i]: of the elements of row i in tile t of columns.
  T* of_rows;
  /// of_columns[t n + j]: of the transposed elements of column j in tile t of rows.
  T* of_columns;

  __host__ __device__ static constexpr int row_tiles(int n) { return (n + kRows - 1) / kRows; }
  __host__ __device__ static constexpr int column_tiles(int n) {
    return (n + kColumns - 1) / kColumns;
  }
  /// Elements of of_rows and of_columns together.
  static constexpr int64_t sums(int n) {
    return (int64_t{row_tiles(n)} + column_tiles(n)) * int64_t{n};
  }
  /// Whether a tile has a part of the triangle.
  __device__ bool is_stored(int row_tile, int column_tile) const {
    return lower ? (row_tile + 1) * kRows > column_tile * kColumns
                 : row_tile * kRows < (column_tile + 1) * kColumns;
  }
  /// Whether it is entirely inside the triangle and the matrix.
  __device__ bool is_whole(int row_tile, int column_tile) const {
    const bool is_inside = (row_tile + 1) * kRows <= n && (column_tile + 1) * kColumns <= n;
    return is_inside && (lower ? row_tile * kRows >= (column_tile + 1) * kColumns
                               : (row_tile + 1) * kRows <= column_tile * kColumns);
  }
};

__device__ __forceinline__ double exchanged(double x, int distance) {
  return __shfl_xor_sync(0xffffffffu, x, distance);
}
__device__ __forceinline__ Complex<double> exchanged(Complex<double> x, int distance) {
  return {exchanged(x.re, distance), exchanged(x.im, distance)};
}
/// sum + a x, and sum + conj(a) x.
__device__ __forceinline__ double add_product(double sum, double a, double x) {
  return fma(a, x, sum);
}
__device__ __forceinline__ Complex<double> add_product(Complex<double> sum, Complex<double> a,
                                                       Complex<double> x) {
  return {fma(-a.im, x.im, fma(a.re, x.re, sum.re)), fma(a.im, x.re, fma(a.re, x.im, sum.im))};
}

/// Sums of each of the first kGroup values over the lanes: of value l in lane l, and with groups of
/// 16 also in lane l + 16.
template <class T, int kGroup>
__device__ __forceinline__ T sum_over_lanes(T (&values)[kGroup], int lane) {
  if constexpr (kGroup == 16) {
#pragma unroll
    for (int c = 0; c < kGroup; ++c) values[c] = add(values[c], exchanged(values[c], 16));
  }
  constexpr int kSteps = kGroup == 16 ? 4 : 5;
#pragma unroll
  for (int step = 1; step <= kSteps; ++step) {
    const int half = kGroup >> step;
    const bool is_upper = (lane & half) != 0;
#pragma unroll
    for (int c = 0; c < kGroup / 2; ++c) {
      if (c >= half) continue;
      const T sent = is_upper ? values[c] : values[c + half];
      values[c] = add(is_upper ? values[c + half] : values[c], exchanged(sent, half));
    }
  }
  return values[0];
}

/// The tile of one block.
template <class T>
struct HermitianTile {
  using Call = HermitianProduct<T>;
  static constexpr int kGroup = Call::kGroup, kWarps = Call::kWarps, kColumns = Call::kColumns;

  const Call& call;
  T (&x_of_columns)[kColumns];
  T (&of_warps)[kWarps][kColumns];
  int row_tile, column_tile, warp, lane;

  /// Two rows of a thread.
  __device__ __forceinline__ int row(int k) const {
    return row_tile * Call::kRows + 64 * warp + 32 * k + lane;
  }
  template <bool kWhole>
  __device__ __forceinline__ T element(int i, int j) const {
    if constexpr (!kWhole) {
      if (i >= call.n || j >= call.n || (call.lower ? i < j : i > j)) return from_real<T>(0);
      if (i == j) return from_real<T>(real(call.A[i + j * call.lda]));
    }
    return call.A[i + j * call.lda];
  }
  template <bool kWhole>
  __device__ void multiply() const {
    T x[2], y[2];
    for (int k = 0; k < 2; ++k) {
      y[k] = from_real<T>(0);
      x[k] = row(k) < call.n ? call.x[row(k)] : y[k];
    }
#pragma unroll 1
    for (int group = 0; group < kColumns; group += kGroup) {
      T values[kGroup];
      constexpr int kLoaded = kGroup / 4;  // columns whose elements are in flight at a time
#pragma unroll
      for (int c = 0; c < kGroup; c += kLoaded) {
        T a[kLoaded][2];
#pragma unroll
        for (int l = 0; l < kLoaded; ++l)
          for (int k = 0; k < 2; ++k)
            a[l][k] = element<kWhole>(row(k), column_tile * kColumns + group + c + l);
#pragma unroll
        for (int l = 0; l < kLoaded; ++l) {
          const int column = group + c + l;
          values[c + l] = from_real<T>(0);
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            y[k] = add_product(y[k], a[l][k], x_of_columns[column]);
            // Diagonal elements are counted once.
            const bool is_diagonal = !kWhole && row(k) == column_tile * kColumns + column;
            if (!is_diagonal) values[c + l] = add_product(values[c + l], conj(a[l][k]), x[k]);
          }
        }
      }
      const T sum = sum_over_lanes(values, lane);
      if (lane < kGroup) of_warps[warp][group + lane] = sum;
    }
    for (int k = 0; k < 2; ++k)
      if (row(k) < call.n) call.of_rows[int64_t(column_tile) * call.n + row(k)] = y[k];
  }
  __device__ void run() const {
    const int thread = 32 * warp + lane, column = column_tile * kColumns + thread;
    if (thread < kColumns)
      x_of_columns[thread] = column < call.n ? call.x[column] : from_real<T>(0);
    __syncthreads();
    if (call.is_whole(row_tile, column_tile))
      multiply<true>();
    else
      multiply<false>();
    __syncthreads();
    if (thread >= kColumns || column >= call.n) return;
    T sum = of_warps[0][thread];
    for (int w = 1; w < kWarps; ++w) sum = add(sum, of_warps[w][thread]);
    call.of_columns[int64_t(row_tile) * call.n + column] = sum;
  }
};
/// One block for each tile, stored or not, by column tiles.
template <class T>
__global__ void __launch_bounds__(HermitianProduct<T>::kThreads, 2)
    multiply_tiles(HermitianProduct<T> call) {
  const auto block = static_cast<int>(blockIdx.x);
  const int row_tiles = HermitianProduct<T>::row_tiles(call.n);
  const int row_tile = block % row_tiles, column_tile = block / row_tiles;
  if (!call.is_stored(row_tile, column_tile)) return;
  __shared__ __align__(16) unsigned char
      memory[(HermitianProduct<T>::kWarps + 1) * HermitianProduct<T>::kColumns * sizeof(T)];
  using Columns = T[HermitianProduct<T>::kColumns];
  auto* const columns = reinterpret_cast<Columns*>(memory);
  using OfWarps = Columns[HermitianProduct<T>::kWarps];
  const auto thread = static_cast<int>(threadIdx.x);
  HermitianTile<T>{call,       columns[0],  *reinterpret_cast<OfWarps*>(columns + 1),
                   row_tile,   column_tile, thread / 32,
                   thread % 32}
      .run();
}

/// y: the sums of all tiles, of 32 rows a block.
template <class T>
__global__ void __launch_bounds__(HermitianProduct<T>::kThreads)
    add_tiles(HermitianProduct<T> call, T* y) {
  using Call = HermitianProduct<T>;
  __shared__ __align__(16) unsigned char memory[Call::kWarps * 32 * sizeof(T)];
  T* const parts = reinterpret_cast<T*>(memory);
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, part = thread / 32, i = static_cast<int>(blockIdx.x) * 32 + lane;
  T sum = from_real<T>(0);
  if (i < call.n) {
    const int row_tiles = Call::row_tiles(call.n), column_tiles = Call::column_tiles(call.n);
    for (int t = part; t < column_tiles; t += Call::kWarps)
      if (call.is_stored(i / Call::kRows, t)) sum = add(sum, call.of_rows[int64_t(t) * call.n + i]);
    for (int t = part; t < row_tiles; t += Call::kWarps)
      if (call.is_stored(t, i / Call::kColumns))
        sum = add(sum, call.of_columns[int64_t(t) * call.n + i]);
  }
  parts[part * 32 + lane] = sum;
  __syncthreads();
  if (part != 0 || i >= call.n) return;
  for (int p = 1; p < Call::kWarps; ++p) sum = add(sum, parts[p * 32 + lane]);
  y[i] = sum;
}

}  // namespace chol::cuda::refinement
