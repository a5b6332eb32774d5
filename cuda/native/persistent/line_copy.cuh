// Copies of 16 columns of a tile to shared memory by warps.
#pragma once

#include <type_traits>

#include "native/persistent/block.cuh"

namespace chol::cuda::persistent {

/// A position in a ring of stages, and the parity of its round.
template <int kLength>
struct Turn {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kLength) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// Of kRows rows and 16 columns: columns kPitch elements apart, or, of an upper triangle, rows as
/// RowTile has them.
/// @tparam aligned whether each line starts at a multiple of 16 bytes; otherwise single elements
/// are copied. @tparam kThreads number of threads.
template <class T, bool swapped, bool aligned, int kRows, int kPitch, int kThreads = 32>
struct LineCopy {
  static constexpr int kUnit = aligned ? 16 : int(sizeof(T)), kElements = kUnit / int(sizeof(T));

  /// `from` is the first element; elements after the last row or column become zero. @param rows
  /// number of valid rows from the first on; columns: likewise.
  __device__ __forceinline__ static void copy(T* to, const T* from, int64_t ld, int rows,
                                              int columns, int thread) {
    if ((swapped ? kRows : kSmall) > (swapped ? rows : columns))
      copy_lines<true>(to, from, ld, rows, columns, thread);
    else
      copy_lines<false>(to, from, ld, rows, columns, thread);
  }

 private:
  static __device__ __forceinline__ void copy_unit(unsigned to, const T* from, int bytes) {
    if constexpr (kUnit == 16)
      copy_async_once(to, from, bytes);
    else
      copy_async<kUnit>(to, from, bytes);
  }
  /// Each thread copies one unit of every few lines, with incremental addresses, which takes two
  /// instructions a copy.
  /// @tparam kEnds whether lines end within the tile.
  template <bool kEnds>
  __device__ __forceinline__ static void copy_lines(T* to, const T* from, int64_t ld, int rows,
                                                    int columns, int thread) {
    constexpr int kLine = swapped ? kSmall / kElements : kRows / kElements;  // units
    constexpr int kLines = swapped ? kRows : kSmall;
    constexpr int kAtOnce = larger(1, kThreads / kLine), kPieces = larger(1, kLine / kThreads);
    constexpr bool kSameExchange = kAtOnce % 4 == 0 || sizeof(T) > 4;
    using Stride = std::conditional_t<(kAtOnce > 16), uint64_t, unsigned>;  // of a bounded ld
    const int line0 = thread / kLine;
    const auto stride = static_cast<Stride>(kAtOnce * ld * sizeof(T));
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      const int along = (thread % kLine + kThreads * piece) * kElements;
      const int rest = (swapped ? columns : rows) - along;
      const int bytes = larger(0, smaller(rest, kElements)) * int(sizeof(T));
      const auto* const line = reinterpret_cast<const char*>(from + line0 * ld + along);
      const unsigned address = shared_address(to);
      const int offset0 = swapped ? RowTile<T>::offset(line0, along) : line0 * kPitch + along;
#pragma unroll
      for (int k = 0; k < kLines / kAtOnce; ++k) {
        const int offset = !swapped        ? offset0 + k * kAtOnce * kPitch
                           : kSameExchange ? offset0 + k * kAtOnce * kSmall
                                           : RowTile<T>::offset(line0 + k * kAtOnce, along);
        const int lines = swapped ? rows : columns;
        const int read = kEnds && line0 + k * kAtOnce >= lines ? 0 : bytes;
        copy_unit(address + offset * int(sizeof(T)),
                  reinterpret_cast<const T*>(line + uint64_t(unsigned(k)) * stride), read);
      }
    }
  }
};

}  // namespace chol::cuda::persistent
