// Solves with factors of any order: 32 x 32 tiles streamed from memory, coalesced for either
// triangle, the next one prefetched, the right-hand sides left in memory. With kInverse the
// right-hand sides are the columns of the identity and only rows from the diagonal down are
// computed, which takes the flops of potri.
#pragma once

#include <type_traits>

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"

namespace chol::cuda {

inline constexpr int kStreamTile = 32;
inline constexpr int kStreamWarps = 4;
/// Most right-hand sides of a block, which reads the triangle for all of them: as many as registers
/// hold.
template <class T>
inline constexpr int kStreamMany = sizeof(T) == 16 ? 4 : 16;
template <class T>
using StreamTile = T[kStreamTile][kStreamTile + 1];

template <class T, int kColumns>
struct StreamShared {
  /// Buffers of a warp: the current tile and, unless more blocks are better, the next one.
  static constexpr int kTiles =
      sizeof(T) == 4 || (std::is_same_v<T, double> && kColumns == 1) ? 2 : 1;
  StreamTile<T> tiles[kStreamWarps][kTiles];
  T x[kStreamWarps][kStreamTile][kColumns];
};

/// The tiles of a triangle that a warp takes in a sweep, in that order: of block column k the rows
/// k + 1 + warp and every kStreamWarps-th on; the first warp also has the diagonal tile, in the
/// forward sweep before these and in the backward one after them.
template <class T, bool kForward, int kTiles>
struct TileStream {
  LowerView<T> A;
  int n, blocks, top;  ///< block columns from `top` on
  StreamTile<T>* tiles;
  int warp, lane;
  int i = 0, k = 0, current = 0;

  /// Starts the copy of the first one.
  __device__ __forceinline__ void begin() {
    k = kForward ? top : warp == 0 ? blocks - 1 : blocks - 2 - warp;
    i = warp == 0 ? k : k + 1 + warp;
    if (kTiles > 1) fetch();
  }
  /// Waits for the next tile and starts the copy of the one after it.
  __device__ __forceinline__ StreamTile<T>& take() {
    __syncwarp();
    StreamTile<T>& tile = tiles[current];
    if (kTiles > 1) {
      advance();
      current = 1 - current;
      fetch();
      wait_for_copy_groups<1>();
    } else {
      fetch();
      wait_for_copy_groups<0>();
      advance();
    }
    __syncwarp();
    return tile;
  }

 private:
  __device__ __forceinline__ void advance() {
    const bool is_diagonal = i == k;
    if (kForward) {
      i = is_diagonal ? k + 1 : i + kStreamWarps;
      if (i < blocks) return;
      ++k;
      i = warp == 0 ? k : k + 1 + warp;
    } else {
      i += kStreamWarps;
      if (is_diagonal || (warp > 0 && i >= blocks)) {
        --k;
        i = k + 1 + warp;
      }
      if (warp == 0 && i >= blocks) i = k;
    }
  }
  /// Rows beyond n are zero, the diagonal there is one.
  __device__ __forceinline__ void fetch() const {
    if (k >= top && i < blocks) {
      const int first_row = kStreamTile * i, first_column = kStreamTile * k;
      T* to = A.swapped ? &tiles[current][0][lane] : &tiles[current][lane][0];
      const T* from =
          A.swapped ? A.at(first_row, first_column + lane) : A.at(first_row + lane, first_column);
      const int step = A.swapped ? kStreamTile + 1 : 1;
#pragma unroll 8
      for (int s = 0; s < kStreamTile; ++s, to += step, from += A.ld) {
        const int row = first_row + (A.swapped ? s : lane);
        const int column = first_column + (A.swapped ? lane : s);
        if (row < n && column <= row)
          copy_async<sizeof(T)>(to, from);
        else
          *to = from_real<T>(row == column ? 1 : 0);
      }
    }
    close_copy_group();
  }
};

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
__device__ __forceinline__ void forward_diagonal(const StreamTile<T>& t, T (&v)[kColumns],
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
__device__ __forceinline__ void backward_diagonal(const StreamTile<T>& t, T (&v)[kColumns],
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
  extern __shared__ __align__(16) unsigned char shared[];
  using Shared = StreamShared<T, kColumns>;
  auto& of_block = *reinterpret_cast<Shared*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int n = static_cast<int>(problem.order(b)), blocks = (n + kStreamTile - 1) / kStreamTile;
  const int64_t ldb = problem.B.leading_dimension(b);
  const int64_t columns = min(int64_t(kColumns), problem.rhs_count(b) - chunk * kColumns);
  const StreamColumns<T, kColumns> B{problem.B.matrix(b) + chunk * kColumns * ldb, ldb, n, columns,
                                     problem.swapped};
  const LowerView<T> A = lower_view(problem, b);
  const int top = kInverse ? static_cast<int>(chunk * kColumns / kStreamTile) : 0;
  auto* const x = of_block.x[warp];
  T v[kColumns];

  TileStream<T, true, Shared::kTiles> down{A, n, blocks, top, of_block.tiles[warp], warp, lane};
  down.begin();
  for (int k = top; k < blocks; ++k) {
    if (warp == 0) {
      B.load(v, k * kStreamTile + lane);
      forward_diagonal(down.take(), v, lane);
      B.store(v, k * kStreamTile + lane);
#pragma unroll
      for (int q = 0; q < kColumns; ++q) x[lane][q] = v[q];
    }
    __syncthreads();
    for (int i = k + 1 + warp; i < blocks; i += kStreamWarps) {
      B.load(v, i * kStreamTile + lane);
      const StreamTile<T>& tile = down.take();
#pragma unroll 8
      for (int c = 0; c < kStreamTile; ++c)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          v[q] = subtract_product(v[q], tile[lane][c], of_block.x[0][c][q]);
      B.store(v, i * kStreamTile + lane);
    }
    __syncthreads();
  }
  TileStream<T, false, Shared::kTiles> up{A, n, blocks, top, of_block.tiles[warp], warp, lane};
  up.begin();
  for (int k = blocks - 1; k >= top; --k) {
    T sum[kColumns] = {};
    for (int i = k + 1 + warp; i < blocks; i += kStreamWarps) {
      B.load(v, i * kStreamTile + lane);
      const StreamTile<T>& tile = up.take();
#pragma unroll
      for (int q = 0; q < kColumns; ++q) x[lane][q] = v[q];
      __syncwarp();
#pragma unroll 8
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
      B.load(v, k * kStreamTile + lane);
#pragma unroll
      for (int w = 0; w < kStreamWarps; ++w)
#pragma unroll
        for (int q = 0; q < kColumns; ++q) v[q] = subtract(v[q], of_block.x[w][lane][q]);
      backward_diagonal(up.take(), v, lane);
      B.store(v, k * kStreamTile + lane);
    }
    __syncthreads();
  }
}

}  // namespace chol::cuda
