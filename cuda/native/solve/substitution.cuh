// Diagonal tiles by which solves are not multiplied as inverses: the test for them, and
// substitution.
//
// The product of the computed inverse X of a block L and a vector r has a residual of at most c u
// |L| |X| |r| (Higham, Accuracy and Stability of Numerical Algorithms, 8.2, 14.2), for either
// sweep. Relative to L X that is as large as |X| |L|, a condition that does not depend on the
// scaling of rows; substitution has no such factor.
#pragma once

#include "native/solve/tile.cuh"

namespace chol::cuda::solve {

/// Largest norm of |X| |L|, its sums of rows, for which X replaces substitution. LAPACK's ratio of
/// a solution is up to a tenth of it (docs/experiments_cuda.md) and must be below 30.
inline constexpr float kMostCondition = 128;
/// Largest norm of M X, M being the tile between the two strips of a link: what the rounding errors
/// of the first are multiplied by.
inline constexpr float kMostGrowth = 32;

template <class T>
__device__ __forceinline__ Real<T> absolute_sum(T x) {
  if constexpr (Traits<T>::is_complex)
    return (x.re < 0 ? -x.re : x.re) + (x.im < 0 ? -x.im : x.im);
  else
    return x < 0 ? -x : x;
}

/// @tparam Tiles a Tile.
template <class T, class Tiles>
struct Substitution {
  static constexpr int kOrder = Tiles::kOrder, kThreads = Tiles::kThreads;

  /// The sum of |L(i, j)| weight(j) over j, i being the row of this thread, in all lanes that share
  /// it.
  template <class Weight>
  __device__ static __forceinline__ Real<T> sum_of_row(const T* tile, int thread, Weight&& weight) {
    const int row = thread / kShares, share = thread % kShares;
    Real<T> sum = 0;
#pragma unroll 4
    for (int k = 0; k < kOrder / kShares; ++k) {
      const int j = share + kShares * k;
      if (j <= row) sum = fma(absolute_sum(tile[Tiles::at(row, j)]), weight(j), sum);
    }
    return sum_lanes<kShares>(sum);
  }

  /// The columns of x := inv(L) x, or of its transpose or adjoint, one warp a column at a time.
  template <bool kTransposed, bool kConjugated, int kColumns>
  __device__ static __forceinline__ void solve(const T* tile, T* x, int thread) {
    constexpr int kRowPitch = kVectorPitch<T, kColumns>, kRows = kOrder / 32;
    const int lane = thread % 32;
#pragma unroll 1
    for (int q = thread / 32; q < kColumns; q += kThreads / 32) {
      T mine[kRows];
      Real<T> reciprocal[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int row = lane + 32 * r;
        mine[r] = x[row * kRowPitch + q];
        reciprocal[r] = Real<T>(1) / real(tile[Tiles::at(row, row)]);
      }
#pragma unroll
      for (int block = 0; block < kRows; ++block) {
        const int its = kTransposed ? kRows - 1 - block : block;
#pragma unroll 4
        for (int step = 0; step < 32; ++step) {
          const int from = kTransposed ? 31 - step : step, k = 32 * its + from;
          if (lane == from) mine[its] = scale(mine[its], reciprocal[its]);
          const T solved = from_lane(mine[its], from);
#pragma unroll
          for (int r = 0; r < kRows; ++r) {
            const int row = lane + 32 * r;
            if (kTransposed ? row < k : row > k)
              mine[r] = subtract_product(
                  mine[r], conj_if(kConjugated, tile[at<kTransposed>(row, k)]), solved);
          }
        }
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) x[(lane + 32 * r) * kRowPitch + q] = mine[r];
    }
  }

 private:
  template <bool kTransposed>
  __device__ static __forceinline__ int at(int i, int j) {
    return kTransposed ? Tiles::at(j, i) : Tiles::at(i, j);
  }
};

}  // namespace chol::cuda::solve
