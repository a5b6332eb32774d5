// Solves with the factors of a batch. Up to a few hundred rows the triangle is
// read once and kept in shared memory for both sweeps; beyond, its tiles are
// streamed once per sweep.
#pragma once

#include <algorithm>

#include "batched/kernels.hpp"
#include "batched/packed_triangle.cuh"
#include "batched/tile.cuh"

namespace chol::cuda {

template <class T>
__device__ __forceinline__ void copy_async(T* to, const T* from) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from),
               "n"(sizeof(T)));
}

template <class T>
__device__ __forceinline__ void load_triangle(const PackedTriangle<T>& L, const LowerView<T>& A,
                                              int n) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
  if (A.swapped) {
    for (int i = threadIdx.x / 32; i < n; i += warps)
      for (int j = lane; j <= i; j += 32) copy_async(L.at(i, j), A.at(i, j));
  } else {
    for (int j = threadIdx.x / 32; j < n; j += warps)
      for (int i = j + lane; i < n; i += 32) copy_async(L.at(i, j), A.at(i, j));
  }
  wait_for_copies();
}

inline constexpr int kInversePitch = 9;
inline constexpr int kInverseTile = 8 * kInversePitch;

/// Thread i inverts column i % 8 of diagonal tile i / 8; W(r, c) lands at tile
/// + c * pitch + r.
template <class T>
__device__ __forceinline__ void invert_diagonal_tiles(const PackedTriangle<T>& L, T* inverses,
                                                      int n) {
  using R = Real<T>;
  const int i = threadIdx.x, h = i / 8, c = i % 8, width = min(8, n - 8 * h);
  const R own = i < n ? R(1) / real(*L.at(i, i)) : R(0);
  T x[8];
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    const R inverse = __shfl_sync(kFullWarp, own, r, 8);
    T sum = from_real<T>(r == c ? R(1) : R(0));
    if (r < width && c < r) {
#pragma unroll
      for (int s = 0; s < r; ++s)
        if (s >= c) sum = subtract_product(sum, *L.at(8 * h + r, 8 * h + s), x[s]);
    }
    x[r] = scale(sum, inverse);
    if (i < n)
      inverses[h * kInverseTile + c * kInversePitch + r] = r < width ? x[r] : from_real<T>(0);
  }
}

/// A thread a row, the right-hand sides kColumns at a time.
template <class T, int kColumns>
__global__ void __launch_bounds__(256)
    solve_kernel(BatchProblem<T> problem, int chunks, int chunk_columns) {
  const int64_t b = blockIdx.x / chunks;
  if (!solves(problem, b)) return;
  const int n = static_cast<int>(problem.order(b));
  const int64_t nrhs = problem.rhs_count(b);
  const int64_t first = int64_t(blockIdx.x % chunks) * chunk_columns;
  const int64_t last = min(nrhs, first + chunk_columns);
  if (first >= last) return;

  extern __shared__ __align__(16) unsigned char shared[];
  T* const xs = reinterpret_cast<T*>(shared);  // rows of kColumns, padded to whole tiles
  const int tiles = (n + 7) / 8;
  T* const inverses = xs + tiles * 8 * kColumns;
  const PackedTriangle<T> L{inverses + tiles * kInverseTile, n | 1};
  const int i = threadIdx.x, own_tile = i / 8, r = i % 8, warp = i / 32;
  const bool conjugated = problem.swapped;
  T* const B = problem.B.matrix(b);
  const int64_t ldb = problem.B.leading_dimension(b);

  load_triangle(L, lower_view(problem, b), n);
  __syncthreads();
  invert_diagonal_tiles(L, inverses, n);
  const T* const inverse = inverses + own_tile * kInverseTile;

  for (int64_t column = first; column < last; column += kColumns) {
    T v[kColumns];
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      v[q] = i < n && column + q < last ? conj_if(conjugated, B[(column + q) * ldb + i])
                                        : from_real<T>(0);
    __syncthreads();  // inverses are there, and the last columns' xs is no
                      // longer read
    for (int h = 0; h < tiles; ++h) {
      if (warp == h / 4) {
        if (own_tile == h)
#pragma unroll
          for (int q = 0; q < kColumns; ++q) xs[i * kColumns + q] = v[q];
        __syncwarp();
        T x[kColumns] = {};
        if (own_tile == h)
#pragma unroll
          for (int c = 0; c < 8; ++c)
            if (c <= r)
#pragma unroll
              for (int q = 0; q < kColumns; ++q)
                x[q] = subtract_product(x[q], negative(inverse[c * kInversePitch + r]),
                                        xs[(8 * h + c) * kColumns + q]);
        __syncwarp();
        if (own_tile == h)
#pragma unroll
          for (int q = 0; q < kColumns; ++q) xs[i * kColumns + q] = v[q] = x[q];
      }
      __syncthreads();
      if (own_tile > h && i < n) {
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          const T l = L.column(h, c)[i - 8 * h];
#pragma unroll
          for (int q = 0; q < kColumns; ++q)
            v[q] = subtract_product(v[q], l, xs[(8 * h + c) * kColumns + q]);
        }
      }
    }
    for (int h = tiles - 1; h >= 0; --h) {
      if (warp == h / 4) {
        if (own_tile == h)
#pragma unroll
          for (int q = 0; q < kColumns; ++q) xs[i * kColumns + q] = v[q];
        __syncwarp();
        T x[kColumns] = {};
        if (own_tile == h)
#pragma unroll
          for (int c = 0; c < 8; ++c)
            if (c >= r && 8 * h + c < n)
#pragma unroll
              for (int q = 0; q < kColumns; ++q)
                x[q] = add_conj_product(x[q], inverse[r * kInversePitch + c],
                                        xs[(8 * h + c) * kColumns + q]);
        __syncwarp();
        if (own_tile == h)
#pragma unroll
          for (int q = 0; q < kColumns; ++q) xs[i * kColumns + q] = v[q] = x[q];
      }
      __syncthreads();
      if (own_tile < h) {
        const T* l = L.column(own_tile, r) + 8 * (h - own_tile);
        const int width = min(8, n - 8 * h);
#pragma unroll
        for (int c = 0; c < 8; ++c)
          if (c < width)
#pragma unroll
            for (int q = 0; q < kColumns; ++q)
              v[q] = subtract_product(v[q], conj(l[c]), xs[(8 * h + c) * kColumns + q]);
      }
    }
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      if (i < n && column + q < last) B[(column + q) * ldb + i] = conj_if(conjugated, v[q]);
  }
}

template <class T>
size_t solve_shared_bytes(int n, int columns) {
  const int tiles = (n + 7) / 8;
  return sizeof(T) *
         (size_t(tiles) * (8 * columns + kInverseTile) + PackedTriangle<T>::elements(n));
}

/// Right-hand sides that one block works through; more are spread over the
/// grid.
inline constexpr int64_t kSolveChunk = 32;

template <class T, int kColumns>
Status launch_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const int n = static_cast<int>(problem.n);
  const size_t bytes = solve_shared_bytes<T>(n, kColumns);
  auto* kernel = solve_kernel<T, kColumns>;
  if (bytes > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return status_of(error, "solve: shared memory");
  }
  const int64_t chunks = std::max<int64_t>(1, (problem.nrhs + kSolveChunk - 1) / kSolveChunk);
  kernel<<<static_cast<unsigned>(problem.count * chunks), (n + 31) / 32 * 32, bytes, stream>>>(
      problem, static_cast<int>(chunks), static_cast<int>(kSolveChunk));
  return launched("solve");
}

inline constexpr int kSolveWidth = 4;  ///< right-hand sides at a time when there are several

template <class T>
int solve_limit() {
  // What a block can have on every architecture since 8.0, and a thread a row.
  constexpr size_t kMostShared = 96 * 1024;
  int n = 256;
  while (solve_shared_bytes<T>(n, kSolveWidth) > kMostShared) n -= 8;
  return n;
}

template <class T>
Status run_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return problem.nrhs == 1 ? launch_solve<T, 1>(problem, stream)
                           : launch_solve<T, kSolveWidth>(problem, stream);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_SOLVE(T)                                                       \
  template chol::Status chol::cuda::run_solve<T>(const BatchProblem<T>&, cudaStream_t); \
  template int chol::cuda::solve_limit<T>();
