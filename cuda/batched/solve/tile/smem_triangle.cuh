// A lower triangle in shared memory by 8 x 8 tiles, its diagonal tiles inverted in place.
#pragma once

#include "batched/solve/invert_diagonal_block.cuh"
#include "common/batch_view.cuh"
#include "common/cp_async_chunk.cuh"
#include "common/scalar.cuh"
#include "common/vector_access.cuh"

namespace chol::cuda {

/// Tiles are stored by block columns. A tile is eight *runs*, which are contiguous in device
/// memory: its columns, or with kSwapped its rows. It is copied in 16-byte chunks, whose positions
/// are swizzled so that reads along and across runs are free of bank conflicts.
template <class T, bool kSwapped>
struct TileTriangle {
  static constexpr int kOrder = 8, kElements = kOrder * kOrder;
  static constexpr int kWide = 16 / sizeof(T);      ///< elements of a chunk
  static constexpr int kChunks = kOrder / kWide;    ///< of a run
  static constexpr int kCopies = kOrder * kChunks;  ///< of a tile
  T* data;
  int tiles;  ///< along the diagonal
  int n;

  __host__ __device__ static int count(int tiles) { return tiles * (tiles + 1) / 2; }
  __device__ __forceinline__ int index(int i, int j) const {
    return j * (2 * tiles - j + 1) / 2 + i - j;
  }
  __device__ __forceinline__ T* tile(int i, int j) const { return data + index(i, j) * kElements; }

  __device__ static constexpr int swizzle(int run) {
    if constexpr (sizeof(T) == 4) return run / 4 * 3;
    if constexpr (sizeof(T) == 8) return run / 2 ^ (run / 2 % 2 * 4);
    return run;
  }
  /// Position of an element of a run in a tile. Written such that for a constant run most of the
  /// position is a constant.
  __device__ static constexpr int offset(int run, int position) {
    const int s = swizzle(run), of_line = (run * kChunks) ^ (s & ~(kChunks - 1));
    return (of_line + ((position / kWide) ^ (s & (kChunks - 1)))) * kWide + position % kWide;
  }
  __device__ static constexpr int offset_of(int row, int column) {
    return kSwapped ? offset(row, column) : offset(column, row);
  }

  /// Starts the copies of all tiles by kThreads threads, as one group. Elements beyond the matrix
  /// become zero; elements above the diagonal are undefined and never read.
  template <int kThreads>
  __device__ __forceinline__ void start_copies(const LowerView<T>& A, int thread) const {
    // A thread copies the same chunks of all tiles, or of every few.
    constexpr int kStep = kThreads < kCopies ? kThreads : kCopies;
    for_chunk_size(A, [&]<int kChunk>(std::integral_constant<int, kChunk>) {
#pragma unroll
      for (int chunk = 0; chunk < kCopies; chunk += kStep)
        copy_chunks<kChunk, kThreads / kStep>(A, chunk + thread % kStep, thread / kStep);
    });
    close_copy_group();
  }

  /// The part of a run of a diagonal tile in the triangle, and little more.
  __device__ __forceinline__ void copy_run(T (&to)[kOrder], const T* tile, int run) const {
#pragma unroll
    for (int k = 0; k < kOrder; k += kWide)
      if (kSwapped ? k < run : k + kWide > run + 1) {
        T chunk[kWide];
        copy_wide<kWide>(chunk, tile + offset(run, k));
#pragma unroll
        for (int e = 0; e < kWide; ++e) to[k + e] = chunk[e];
      }
  }
  /// Inverts the diagonal tiles, zero outside the matrix. A thread has a column of a tile; eight
  /// adjacent lanes have the tile.
  template <int kThreads>
  __device__ __forceinline__ void invert_diagonal(int thread) const {
    using R = Real<T>;
    constexpr int kOfWarp = 32 / kOrder;
    const int c = thread % kOrder, last = tiles - 1;
    for (int first = thread / 32 * kOfWarp; first <= last; first += kThreads / kOrder) {
      // Threads beyond the last tile, which is of the same warp, repeat the work of its threads.
      const int h = min(first + thread % 32 / kOrder, last);
      T* const at = tile(h, h);
      const R own = kOrder * h + c < n ? R(1) / real(at[offset_of(c, c)]) : R(0);
      T x[kOrder];
      inverse_column<kSwapped>(x, c, own, [&](T(&run)[kOrder], int s) { copy_run(run, at, s); });
      __syncwarp();
#pragma unroll
      for (int r = 0; r < kOrder; ++r) at[offset_of(r, c)] = x[r];
    }
  }

 private:
  /// Copies that chunk, by kChunk elements, of every kAtOnce-th tile of a block column from its
  /// `first` on. Adjacent elements for adjacent lanes take 5 to 9 % longer here (s, H200).
  template <int kChunk, int kAtOnce>
  __device__ __forceinline__ void copy_chunks(const LowerView<T>& A, int chunk, int first) const {
    const int run = chunk / kChunks, position = chunk % kChunks * kWide;
    const bool above = kSwapped ? position > run : position + kWide <= run;
    const int64_t step = kOrder * kAtOnce * (kSwapped ? A.ld : 1);
#pragma unroll 1
    for (int j = 0; j < tiles; ++j) {
      int i = j + (first == 0 && above ? kAtOnce : first);
      const int line = kOrder * (kSwapped ? i : j) + run;
      const int at = kOrder * (kSwapped ? j : i) + position;
      // Number of elements from the chunk on, and of lines from this one on.
      int elements = n - at, lines = n - line;
      unsigned to = shared_address(tile(i, j) + offset(run, position));
      const T* from = A.a + line * A.ld + at;
#pragma unroll 1
      for (; i < tiles; i += kAtOnce) {
#pragma unroll
        for (int e = 0; e < kWide; e += kChunk) {
          const int inside = lines > 0 ? max(min(elements - e, kChunk), 0) : 0;
          copy_chunk<kChunk>(to + e * unsigned(sizeof(T)), from + e, inside);
        }
        to += kElements * kAtOnce * unsigned(sizeof(T));
        from = advanced(from, step);
        (kSwapped ? lines : elements) -= kOrder * kAtOnce;
      }
    }
  }
};

}  // namespace chol::cuda
