// A triangle in shared memory for a solve by all warps of a block.
#pragma once

#include "batched/solve/invert_diagonal_block.cuh"
#include "common/batch_view.cuh"
#include "common/cp_async_chunk.cuh"
#include "common/vector_access.cuh"

namespace chol::cuda {

/// A lower triangle by *runs*, which are contiguous in device memory: its columns from their
/// diagonal block on or, with kSwapped, its rows up to the end of theirs. The runs of a block
/// column have the same pitch, a multiple of 16 elements plus kPad. Rows past the last one, up to
/// the end of their block, are there and zero.
template <class T, bool kSwapped, int kPad>
struct BlockTriangle {
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of a copy
  static constexpr int kOrder = 16;             ///< of a diagonal block
  static_assert(kPad * sizeof(T) >= 16);
  T* data;
  int n;

  __host__ __device__ static constexpr int blocks(int n) { return (n + kOrder - 1) / kOrder; }
  __host__ __device__ static constexpr int pitch(int n, int block) {
    return kOrder * (kSwapped ? block + 1 : blocks(n) - block) + kPad;
  }
  /// Of the first run of a block.
  __host__ __device__ static constexpr int offset(int n, int block) {
    const int twice = block * (kSwapped ? block + 1 : 2 * blocks(n) - block + 1);  // it is even
    return kOrder * (kOrder * twice / 2 + kPad * block);
  }
  __host__ __device__ static constexpr int elements(int n) { return offset(n, blocks(n)); }

  /// Position 0 of run t, stored or not.
  __device__ __forceinline__ T* run(int t) const {
    const int block = t / kOrder;
    return data + offset(n, block) + t % kOrder * pitch(n, block) - (kSwapped ? 0 : kOrder * block);
  }

  /// Position 0 of the first run of block (i, j).
  __device__ __forceinline__ const T* block(int i, int j) const {
    return run(kOrder * (kSwapped ? i : j)) + kOrder * (kSwapped ? j : i);
  }

  /// The 16 bytes of padding after run r of a block.
  __device__ __forceinline__ T* padding(int block, int r) const {
    return data + offset(n, block) + (r + 1) * pitch(n, block) - kPad;
  }

  /// Starts the copies of the triangle by all warps of the block, in two groups: the diagonal
  /// blocks, then the rest.
  __device__ __forceinline__ void start_copies(const LowerView<T>& A, int warp, int warps,
                                               int lane) const {
    for_chunk_size(A, [&]<int kChunk>(std::integral_constant<int, kChunk>) {
      start_chunks<kChunk>(A, warp, warps, lane);
    });
  }

  /// The diagonal blocks become their inverses, zero where they are outside the matrix: a warp has
  /// two, a lane a column.
  __device__ __forceinline__ void invert_diagonal(int warp, int lane) const {
    // A half warp without a block executes the same code without storing a result.
    const int half = lane / kOrder, block = 2 * warp + half, c = lane % kOrder;
    const int first = kOrder * min(block, blocks(n) - 1);
    const auto at = [&](int i, int j) -> T& {
      return kSwapped ? run(first + i)[first + j] : run(first + j)[first + i];
    };
    const Real<T> own = first + c < n ? Real<T>(1) / real(at(c, c)) : Real<T>(0);
    T x[kOrder];
    inverse_column<kSwapped>(x, c, own, [&](T(&to)[kOrder], int s) {
#pragma unroll
      for (int k = 0; k < kOrder; k += kWide)
        if (kSwapped ? k < s : k + kWide > s + 1)
          copy_wide<kWide>(to + k, run(first + s) + first + k);
    });
    __syncwarp();
    if (block < blocks(n))
#pragma unroll
      for (int r = 0; r < kOrder; ++r) at(r, c) = x[r];
  }

 private:
  template <int kChunk>
  __device__ __forceinline__ void start_chunks(const LowerView<T>& A, int warp, int warps,
                                               int lane) const {
    constexpr int kAcross = kOrder / kChunk, kRuns = 32 / kAcross;
    const int all = blocks(n);
    for (int block = warp; block < all; block += warps)
      copy_runs<kChunk, kRuns>(A, block, lane / kAcross,
                               kOrder * block + kChunk * (lane % kAcross));
    close_copy_group();
    // A lane has the same chunk of all runs.
    for (int position = kChunk * lane; position < kOrder * all; position += 32 * kChunk) {
      const int own = position / kOrder, end = kSwapped ? all : own;
      for (int block = (kSwapped ? own + 1 : 0) + warp; block < end; block += warps)
        copy_runs<kChunk, 1>(A, block, 0, position);
    }
    close_copy_group();
  }
  /// Copies a chunk of every kStep-th run of a block from its `first` on. Elements beyond the
  /// matrix become zero, elements above the diagonal are undefined.
  template <int kChunk, int kStep>
  __device__ __forceinline__ void copy_runs(const LowerView<T>& A, int block, int first,
                                            int position) const {
    constexpr bool kDiagonal = kStep > 1;
    const int pitch = this->pitch(n, block), inside = max(min(n - position, kChunk), 0);
    const int64_t step = kStep * A.ld;
    int t = kOrder * block + first;
    unsigned to = shared_address(run(t) + position);
    const T* from = A.a + t * A.ld + position;
    const auto copy = [&](int elements) {
      if (!kDiagonal || (kSwapped ? position <= t : position + kChunk > t))
        copy_chunk<kChunk>(to, from, elements);
      t += kStep;
      to += kStep * pitch * int(sizeof(T));
      from = advanced(from, step);
    };
    if (kOrder * (block + 1) <= n) {
      // Full blocks: no bounds to check.
#pragma unroll
      for (int r = 0; r < kOrder; r += kStep) copy(inside);
    } else {
#pragma unroll 1
      for (int r = 0; r < kOrder; r += kStep) copy(t < n ? inside : 0);
    }
  }
};

}  // namespace chol::cuda
