// Solves with factors of any order: 32 x 32 tiles streamed from memory,
// coalesced in either storage, the right-hand sides left in memory. With
// kInverse the right-hand sides are the columns of the identity and only rows
// from the diagonal down are wanted, which leaves the flops of potri.
#pragma once

#include "batched/kernels.hpp"

namespace chol::cuda {

inline constexpr int kStreamTile = 32;
inline constexpr int kStreamWarps = 4;

template <class T, int kColumns>
struct StreamShared {
  T tile[kStreamWarps][kStreamTile][kStreamTile + 1];
  T x[kStreamWarps][kStreamTile][kColumns];
};

/// Tile (ib, jb) into t[row][column]; rows beyond n as zero, the diagonal of a
/// diagonal tile as one.
template <class T>
__device__ __forceinline__ void load_stream_tile(T (*t)[kStreamTile + 1], const LowerView<T>& A,
                                                 int64_t ib, int64_t jb, int64_t n, int lane) {
  for (int s = 0; s < kStreamTile; ++s) {
    const int row = A.swapped ? s : lane, column = A.swapped ? lane : s;
    const int64_t i = ib * kStreamTile + row, j = jb * kStreamTile + column;
    t[row][column] = i < n && j <= i ? *A.at(i, j) : from_real<T>(i == j ? 1 : 0);
  }
  __syncwarp();
}

template <class T, int kColumns>
struct StreamColumns {
  T* B;
  int64_t ldb, n, columns;
  bool conjugated;

  __device__ __forceinline__ void load(T (&v)[kColumns], int64_t i) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      v[q] = i < n && q < columns ? conj_if(conjugated, B[q * ldb + i]) : from_real<T>(0);
  }
  __device__ __forceinline__ void store(const T (&v)[kColumns], int64_t i) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      if (i < n && q < columns) B[q * ldb + i] = conj_if(conjugated, v[q]);
  }
};

template <class T, int kColumns>
__device__ __forceinline__ void forward_diagonal(T (*t)[kStreamTile + 1], T (&v)[kColumns],
                                                 int lane) {
  const Real<T> inverse = Real<T>(1) / real(t[lane][lane]);
  for (int j = 0; j < kStreamTile; ++j)
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      const T x = from_lane(scale(v[q], inverse), j);
      v[q] = select(lane > j, subtract_product(v[q], t[lane][j], x), select(lane == j, x, v[q]));
    }
}
template <class T, int kColumns>
__device__ __forceinline__ void backward_diagonal(T (*t)[kStreamTile + 1], T (&v)[kColumns],
                                                  int lane) {
  const Real<T> inverse = Real<T>(1) / real(t[lane][lane]);
  for (int j = kStreamTile - 1; j >= 0; --j)
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      const T x = from_lane(scale(v[q], inverse), j);
      v[q] =
          select(lane < j, subtract_product(v[q], conj(t[j][lane]), x), select(lane == j, x, v[q]));
    }
}

template <class T, int kColumns, bool kInverse>
__global__ void __launch_bounds__(32 * kStreamWarps)
    stream_solve_kernel(BatchProblem<T> problem, int64_t chunks) {
  const int64_t b = blockIdx.x / chunks, chunk = blockIdx.x % chunks;
  if (!problem.solves(b) || chunk * kColumns >= problem.rhs_count(b)) return;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  auto& shared = *reinterpret_cast<StreamShared<T, kColumns>*>(shared_bytes);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t n = problem.order(b), ldb = problem.B.leading_dimension(b);
  const int64_t blocks = (n + kStreamTile - 1) / kStreamTile;
  const int64_t columns = min(int64_t(kColumns), problem.rhs_count(b) - chunk * kColumns);
  const StreamColumns<T, kColumns> B{problem.B.matrix(b) + chunk * kColumns * ldb, ldb, n, columns,
                                     problem.swapped};
  const LowerView<T> A = lower_view(problem, b);
  const int64_t top = kInverse ? chunk * kColumns / kStreamTile : 0;
  auto* const tile = shared.tile[warp];
  auto* const x = shared.x[warp];
  T v[kColumns];

  for (int64_t k = top; k < blocks; ++k) {
    if (warp == 0) {
      load_stream_tile(tile, A, k, k, n, lane);
      B.load(v, k * kStreamTile + lane);
      forward_diagonal(tile, v, lane);
      B.store(v, k * kStreamTile + lane);
#pragma unroll
      for (int q = 0; q < kColumns; ++q) x[lane][q] = v[q];
    }
    __syncthreads();
    for (int64_t i = k + 1 + warp; i < blocks; i += kStreamWarps) {
      __syncwarp();
      load_stream_tile(tile, A, i, k, n, lane);
      B.load(v, i * kStreamTile + lane);
      for (int c = 0; c < kStreamTile; ++c)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          v[q] = subtract_product(v[q], tile[lane][c], shared.x[0][c][q]);
      B.store(v, i * kStreamTile + lane);
    }
    __syncthreads();
  }
  for (int64_t k = blocks - 1; k >= top; --k) {
    T sum[kColumns] = {};
    for (int64_t i = k + 1 + warp; i < blocks; i += kStreamWarps) {
      B.load(v, i * kStreamTile + lane);
      __syncwarp();
#pragma unroll
      for (int q = 0; q < kColumns; ++q) x[lane][q] = v[q];
      load_stream_tile(tile, A, i, k, n, lane);
      for (int r = 0; r < kStreamTile; ++r)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          sum[q] = add_conj_product(sum[q], tile[r][lane], x[r][q]);
    }
    __syncwarp();
#pragma unroll
    for (int q = 0; q < kColumns; ++q) x[lane][q] = sum[q];
    __syncthreads();
    if (warp == 0) {
      load_stream_tile(tile, A, k, k, n, lane);
      B.load(v, k * kStreamTile + lane);
#pragma unroll
      for (int w = 0; w < kStreamWarps; ++w)
#pragma unroll
        for (int q = 0; q < kColumns; ++q) v[q] = subtract(v[q], shared.x[w][lane][q]);
      backward_diagonal(tile, v, lane);
      B.store(v, k * kStreamTile + lane);
    }
    __syncthreads();
  }
}

template <class T, int kColumns, bool kInverse>
Status launch_stream_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr int kBytes = sizeof(StreamShared<T, kColumns>);
  const int64_t chunks = (problem.nrhs + kColumns - 1) / kColumns;
  if (chunks == 0) return Status::success();
  return launch("solve", stream_solve_kernel<T, kColumns, kInverse>,
                static_cast<unsigned>(problem.count * chunks), 32 * kStreamWarps, kBytes, stream,
                problem, chunks);
}

template <class T>
Status run_stream_solve(const BatchProblem<T>& problem, bool inverse, cudaStream_t stream) {
  if (inverse) return launch_stream_solve<T, 4, true>(problem, stream);
  return problem.nrhs == 1 ? launch_stream_solve<T, 1, false>(problem, stream)
                           : launch_stream_solve<T, 4, false>(problem, stream);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_STREAM_SOLVE(T) \
  template chol::Status chol::cuda::run_stream_solve<T>(const BatchProblem<T>&, bool, cudaStream_t);
