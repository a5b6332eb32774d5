// A triangle in shared memory for solves by one warp.
#pragma once

#include <utility>

#include "common/batch_view.cuh"
#include "common/cp_async_chunk.cuh"
#include "common/scalar.cuh"
#include "common/vector_access.cuh"

namespace chol::cuda {

/// A lower triangle by *runs*, which are contiguous in device memory: its columns from the diagonal
/// on, or with kSwapped its rows up to the diagonal, in chunks of 16 bytes. Eight runs form a block
/// with one pitch, an odd number of chunks, and blocks are a chunk apart: reading the same chunk of
/// eight runs, or of every second or fourth, has no bank conflicts. Rows past the last one, up to
/// the end of their block, exist and are zero.
///
/// Lanes read kGroup elements of a run each. If those are several chunks, they are swizzled so that
/// eight lanes have no bank conflicts.
template <class T, bool kSwapped, int kGroup>
struct PackedTriangle {
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of a chunk
  static constexpr int kBlock = 8;              ///< runs of one pitch
  /// Chunks that a lane reads of a run.
  static constexpr int kChunks = kGroup > kWide ? kGroup / kWide : 1;
  /// The triangle is copied in pieces, those of its first columns first.
  static constexpr int kPieceColumns = 32, kPieces = kGroup;
  /// Order up to which pieces are not waited for separately: the many triangles of a multiprocessor
  /// then hide each other's copies.
  static constexpr int kWholeOrder = kGroup < 4 ? 0 : sizeof(T) == 4 ? 112 : 88;
  T* data;
  int n;

  __host__ __device__ static constexpr int blocks(int n) { return (n + kBlock - 1) / kBlock; }
  __host__ __device__ static constexpr int pitch(int n, int block) {
    return (kSwapped ? block + 1 : blocks(n) - block) * kBlock + kWide;
  }
  /// Of the first run of a block.
  __host__ __device__ static constexpr int offset(int n, int block) {
    const int twice = kSwapped ? block + 1 : 2 * blocks(n) - block + 1;
    return block * (kBlock * (kBlock * twice / 2 + kWide) + kWide);
  }
  __host__ __device__ static constexpr int elements(int n) { return offset(n, blocks(n)); }

  /// Position 0 of run t, stored or not.
  __device__ __forceinline__ int start(int t) const {
    const int block = t / kBlock;
    return offset(n, block) + t % kBlock * pitch(n, block) - (kSwapped ? 0 : kBlock * block);
  }
  __device__ __forceinline__ T* run(int t) const { return data + start(t); }
  /// Position of that chunk of a run.
  __device__ static constexpr int place_of_chunk(int chunk) {
    return (chunk ^ (chunk / 8 & (kChunks - 1))) * kWide;
  }
  __device__ static constexpr int place(int position) {
    return place_of_chunk(position / kWide) + position % kWide;
  }
  /// Starts the copies of the triangle by kWarps warps, a group of copies a piece of 32 columns. A
  /// lane copies a chunk of every run, or of every few.
  template <int kWarps>
  __device__ __forceinline__ void start_copies(const LowerView<T>& A, int warp, int lane) const {
    for (int piece = 0; piece < kPieces; ++piece) {
      for_chunk_size(A, [&]<int kChunk>(std::integral_constant<int, kChunk>) {
        start_chunks<kWarps, kChunk>(A, warp, lane, piece);
      });
      close_copy_group();
    }
  }
  /// Whether pieces are waited for separately; otherwise all with the first.
  __device__ __forceinline__ bool by_pieces() const { return n > kWholeOrder; }
  __device__ __forceinline__ bool waits_for(int piece) const { return piece == 0 || by_pieces(); }
  /// Whether a column belongs to a piece.
  __device__ __forceinline__ bool comes_with(int piece, int column) const {
    return !by_pieces() || column / kPieceColumns == piece;
  }
  /// Waits for a piece, the part of this warp and of all others.
  template <int kWarps>
  __device__ __forceinline__ void wait_for_piece(int piece) const {
    if (by_pieces())
      wait_for_groups_after(piece, std::make_integer_sequence<int, kPieces>{});
    else
      wait_for_copy_groups<0>();
    if constexpr (kWarps == 1)
      __syncwarp();
    else
      meet_from_anywhere<kWarps>();
  }

 private:
  template <int... kIndex>
  __device__ static __forceinline__ void wait_for_groups_after(
      int piece, std::integer_sequence<int, kIndex...>) {
    ((piece == kIndex ? wait_for_copy_groups<kPieces - 1 - kIndex>() : void()), ...);
  }

  template <int kWarps, int kChunk>
  __device__ __forceinline__ void start_chunks(const LowerView<T>& A, int warp, int lane,
                                               int piece) const {
    // Number of chunks of a run that a warp copies at a time, and of runs.
    constexpr int kAcross = smaller((kSwapped ? kPieceColumns : 32 * kGroup) / kChunk, 32);
    constexpr int kRunsAtOnce = 32 / kAcross;
    const int begin = kPieceColumns * piece, all = kBlock * blocks(n);
    const int end = kSwapped ? min(begin + kPieceColumns, all) : all;
    for (int position = begin + kChunk * (lane % kAcross); position < end;
         position += kChunk * kAcross)
      copy_runs<kWarps, kChunk, kRunsAtOnce>(A, warp, lane / kAcross, piece, position);
  }
  /// Copies a chunk of every kStep-th run, from its `first` on, of the piece. Rows past the last
  /// one become zero; columns past it are undefined and not read by valid rows.
  template <int kWarps, int kChunk, int kStep>
  __device__ __forceinline__ void copy_runs(const LowerView<T>& A, int warp, int first, int piece,
                                            int position) const {
    constexpr int kBlocks = kPieceColumns / kBlock;
    const int begin = kBlocks * piece + warp;  // no rows before the piece's columns
    const int end = kSwapped ? blocks(n) : min(kBlocks * (piece + 1), blocks(n));
    const int inside = max(min(n - position, kChunk), 0), past = min(position + kChunk, n);
    const int64_t step = kStep * A.ld;
    const unsigned shared = shared_address(data + place(position));
    const T* from = A.a + (kBlock * begin + first) * A.ld + position;
#pragma unroll 1
    for (int block = begin; block < end; block += kWarps) {
      int t = kBlock * block + first, to = start(t);
#pragma unroll
      for (int c = 0; c < kBlock; c += kStep) {
        if (kSwapped ? t >= position : t < past)
          copy_chunk<kChunk>(shared + to * unsigned(sizeof(T)), from,
                             !kSwapped || t < n ? inside : 0);
        t += kStep;
        to += kStep * pitch(n, block);
        from = advanced(from, step);
      }
      from += (kWarps - 1) * kBlock * A.ld;
    }
  }
};

}  // namespace chol::cuda
