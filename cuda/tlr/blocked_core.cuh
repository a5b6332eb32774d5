// The factorization of a core by blocked_factorization.cuh, and T = P inverse(R).
#pragma once

#include "tlr/blocked_factorization.cuh"

namespace chol::cuda::tlr {

template <class T, int kBlocks>
struct BlockedCore : BlockedFactorization<T, kBlocks> {
  using Base = BlockedFactorization<T, kBlocks>;
  using Base::synchronize, Base::item, Base::m, Base::rows, Base::columns, Base::block;
  using Base::thread, Base::warp, Base::lane, Base::tolerance, Base::factor;
  using typename Base::R;

  __device__ BlockedCore(const CoreItem& given, double tolerance_, char* shared)
      : Base(given, 0, tolerance_, shared) {}

  /// Element (i, j) of R, padded by an identity.
  __device__ T of_factor(int i, int j, int rank) const {
    if (j >= rank) return from_real<T>(R(i == j ? 1 : 0));
    return i <= j ? factor[static_cast<size_t>(m.pivots[j]) * columns + i] : from_real<T>(0);
  }
  __device__ T* inverse_of_diagonal(int b) const {
    return static_cast<T*>(item.work) + b * kTileColumns * kTileColumns;
  }
  /// Inverts the diagonal blocks of R, one column per lane.
  __device__ void invert_diagonal(int b, int rank) const {
    constexpr int kOrder = kTileColumns;
    T* const block_of_R = m.scratch + warp * kWarpScratch;
    for (int e = lane; e < kOrder * kOrder; e += 32)
      block_of_R[e] = of_factor(b * kOrder + e % kOrder, b * kOrder + e / kOrder, rank);
    __syncwarp();
    if (lane < kOrder) {
      T x[kOrder];
#pragma unroll
      for (int i = kOrder - 1; i >= 0; --i) {
        T sum = from_real<T>(R(i == lane ? 1 : 0));
#pragma unroll
        for (int u = i + 1; u < kOrder; ++u)
          sum = subtract_product(sum, block_of_R[i + u * kOrder], x[u]);
        x[i] = scale(sum, R(1) / real(block_of_R[i * (kOrder + 1)]));
      }
#pragma unroll
      for (int i = 0; i < kOrder; ++i) inverse_of_diagonal(b)[lane * kOrder + i] = x[i];
    }
    __syncwarp();
  }
  /// Block column b of inverse(R), from its diagonal upwards. It overwrites columns of the core.
  __device__ void invert_column(int b, int rank) const {
    constexpr int kOrder = kTileColumns;
    T* const X = m.X + b / kBlocks * kOrder * m.ld;
    T* const scratch = m.scratch + warp * kWarpScratch;
    for (int e = lane; e < kOrder * kOrder; e += 32)
      X[e / kOrder * m.ld + b * kOrder + e % kOrder] = inverse_of_diagonal(b)[e];
    __syncwarp();
    for (int i = b - 1; i >= 0; --i) {
      SquareSum<T> sum(lane);
      for (int u = i + 1; u <= b; ++u)
        sum.subtract([&](int r, int k) { return of_factor(i * kOrder + r, u * kOrder + k, rank); },
                     X + u * kOrder, m.ld);
      sum.write(scratch, kScratchPitch);
      __syncwarp();
      SquareSum<T> product(lane);
      const T* const inverse = inverse_of_diagonal(i);
      product.subtract([&](int r, int k) { return negative(inverse[k * kOrder + r]); }, scratch,
                       kScratchPitch);
      product.write(X + i * kOrder, m.ld);
      __syncwarp();
    }
    T* const to = static_cast<T*>(item.T);
    for (int c = 0; c < kOrder && b * kOrder + c < rank; ++c)
      for (int p = lane; p < columns; p += 32) {
        const int place = m.keys[p];
        to[static_cast<size_t>(b * kOrder + c) * columns + p] =
            place >= 0 && place <= b * kOrder + c ? X[c * m.ld + place] : from_real<T>(0);
      }
  }
  /// T = P inverse(R).
  __device__ void write_inverse(int rank) {
    const int blocks = (rank + kTileColumns - 1) / kTileColumns;
    for (int p = thread; p < columns; p += kBlockedThreads) m.keys[p] = -1;
    __syncthreads();
    for (int i = thread; i < rank; i += kBlockedThreads) m.keys[m.pivots[i]] = i;
    for (int b = warp * kBlocks + block; b < blocks; b += kBlockedWarps * kBlocks)
      invert_diagonal(b, rank);
    synchronize();
    for (int b = warp * kBlocks + block; b < blocks; b += kBlockedWarps * kBlocks)
      invert_column(b, rank);
  }

  /// The expected error divided by the norm of the longest remaining column, which exceeds the mean
  /// norm by a sixth or more.
  __device__ double error_over_longest(int rank) const {
    return 0.85 * error_over_column(rows, rank);
  }

  __device__ CoreResult run() {
    this->load();
    int rank = 0;
    const auto limit_of = [&](R longest, int so_far) {
      const double over = error_over_longest(so_far), length = tolerance / over;
      return typename Base::Limit{sqrt(double(longest)) * over <= tolerance, length * length, 0};
    };
    const bool is_sufficient =
        this->template factorize<false>(columns - kCoreTests, limit_of, rank);
    synchronize();
    if (is_sufficient) write_inverse(rank);
    synchronize();  // no block exits while other blocks read its shared memory
    return {rank, is_sufficient, 0, 0};
  }
};

}  // namespace chol::cuda::tlr
