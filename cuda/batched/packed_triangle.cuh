// A triangle in shared memory as the solves by one warp read it.
#pragma once

#include <utility>

#include "batched/async_copy.cuh"
#include "batched/copy_wide.cuh"
#include "common/scalar.cuh"
#include "common/view.cuh"

namespace chol::cuda {

/// A lower triangle by *runs*, what lies side by side in memory too: its columns from the diagonal
/// on, or with kSwapped its rows up to the diagonal, in chunks of 16 bytes. Blocks of eight runs
/// have one pitch, an odd number of chunks, and a chunk between them: the same chunk of eight runs,
/// or of every second or fourth, meets every bank once. Rows past the last one, up to the end of
/// their block, are there and zero.
///
/// Lanes read kGroup elements of a run each. Where those are several chunks, the chunks are
/// swizzled so that eight lanes meet every bank once.
template <class T, bool kSwapped, int kGroup>
struct PackedTriangle {
  static constexpr int kWide = 16 / sizeof(T);  ///< elements of a chunk
  static constexpr int kBlock = 8;              ///< runs of one pitch
  /// Chunks that a lane reads of a run.
  static constexpr int kChunks = kGroup > kWide ? kGroup / kWide : 1;
  /// The triangle arrives by pieces, those of its first columns first.
  static constexpr int kPieceColumns = 32, kPieces = kGroup;
  /// Order up to which nobody waits for pieces: as many triangles as a multiprocessor then has hide
  /// each other's arrival.
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

  /// Where position 0 of run t would be.
  __device__ __forceinline__ int start(int t) const {
    const int block = t / kBlock;
    return offset(n, block) + t % kBlock * pitch(n, block) - (kSwapped ? 0 : kBlock * block);
  }
  __device__ __forceinline__ T* run(int t) const { return data + start(t); }
  /// Where a run has that chunk.
  __device__ static constexpr int place_of_chunk(int chunk) {
    return (chunk ^ (chunk / 8 & (kChunks - 1))) * kWide;
  }
  __device__ static constexpr int place(int position) {
    return place_of_chunk(position / kWide) + position % kWide;
  }
  /// Starts the copies of the triangle by kWarps warps, a group of copies a piece of 32 columns. A
  /// lane has a chunk of every run, or of every few.
  template <int kWarps>
  __device__ __forceinline__ void start_copies(const LowerView<T>& A, int warp, int lane) const {
    const bool aligned = (reinterpret_cast<uintptr_t>(A.a) | A.ld * sizeof(T)) % 16 == 0;
    for (int piece = 0; piece < kPieces; ++piece) {
      const int begin = kPieceChunks * piece, all = kBlock / kWide * blocks(n);
      const int end = kSwapped ? min(begin + kPieceChunks, all) : all;
      for (int chunk = begin + lane % kAcross; chunk < end; chunk += 32)
        if (kWide * chunk >= n)
          copy_chunks<kWarps, Copy::zeros>(A, warp, lane, piece, chunk);
        else if (aligned && kWide * (chunk + 1) <= n)
          copy_chunks<kWarps, Copy::whole>(A, warp, lane, piece, chunk);
        else
          copy_chunks<kWarps, Copy::elements>(A, warp, lane, piece, chunk);
      close_copy_group();
    }
  }
  /// Whether large triangles are waited for piece by piece; others with the first.
  __device__ __forceinline__ bool by_pieces() const { return n > kWholeOrder; }
  __device__ __forceinline__ bool waits_for(int piece) const { return piece == 0 || by_pieces(); }
  /// Whether a column is there when a piece was waited for, and was not before.
  __device__ __forceinline__ bool comes_with(int piece, int column) const {
    return !by_pieces() || column / kPieceColumns == piece;
  }
  /// Waits for a piece, this warp's part and that of all others.
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
  static constexpr int kPieceChunks = kPieceColumns / kWide;
  /// Chunks of a run that a warp copies at once, and of how many runs.
  static constexpr int kAcross =
      kSwapped ? kPieceChunks : (32 * kGroup / kWide < 32 ? 32 * kGroup / kWide : 32);
  static constexpr int kRunsAtOnce = 32 / kAcross;

  template <int... kIndex>
  __device__ static __forceinline__ void wait_for_groups_after(
      int piece, std::integer_sequence<int, kIndex...>) {
    ((piece == kIndex ? wait_for_copy_groups<kPieces - 1 - kIndex>() : void()), ...);
  }

  /// How a chunk comes: whole, by elements with zeros past the last row, or as zeros.
  enum class Copy { whole, elements, zeros };

  template <int kWarps, Copy kCopy>
  __device__ __forceinline__ void copy_chunks(const LowerView<T>& A, int warp, int lane, int piece,
                                              int chunk) const {
    constexpr int kBlocks = kPieceColumns / kBlock;
    const int own = lane / kAcross, position = kWide * chunk;
    const int first = kBlocks * piece + warp;  // no rows before the piece's columns
    const int end = kSwapped ? blocks(n) : min(kBlocks * (piece + 1), blocks(n));
    const int64_t step = kRunsAtOnce * A.ld;
    const unsigned shared = shared_address(data);
    const T* from = A.a + (kBlock * first + own) * A.ld + position;
#pragma unroll 1
    for (int block = first; block < end; block += kWarps) {
      int t = kBlock * block + own, to = start(t) + place_of_chunk(chunk);
#pragma unroll
      for (int c = 0; c < kBlock; c += kRunsAtOnce) {
        if (kSwapped ? t >= position : t < position + kWide) {
          if (kCopy == Copy::whole && t < n)
            copy_async_once(shared + to * unsigned(sizeof(T)), from);
          if (kCopy == Copy::elements && t < n) copy_elements(to, from, position);
          if (kCopy == Copy::zeros || (kSwapped && t >= n))
            *reinterpret_cast<float4*>(data + to) = float4{};
        }
        t += kRunsAtOnce;
        to += kRunsAtOnce * pitch(n, block);
        from = advanced(from, step);
      }
      from += (kWarps - 1) * kBlock * A.ld;
    }
  }
  __device__ __forceinline__ void copy_elements(int to, const T* from, int position) const {
#pragma unroll
    for (int e = 0; e < kWide; ++e)
      if (position + e < n)
        copy_async<sizeof(T)>(data + to + e, from + e);
      else
        data[to + e] = from_real<T>(0);
  }
};

}  // namespace chol::cuda
