// Rows of a few columns in shared memory, where products read them, and how they get there.
#pragma once

#include "batched/async_copy.cuh"
#include "batched/shapes.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

/// Rows of kDepthCount columns in shared memory, laid out as they lie in memory: a column's rows
/// side by side or, of swapped storage, a row's columns.
template <class T, int kRows, int kDepthCount, bool kSwapped, ProductBy kBy>
struct StagedRows {
  static constexpr int kDepth = kDepthCount;
  static constexpr int kWide = 16 / sizeof(T);
  /// Spreads the operand reads below over all banks.
  static constexpr int kPad = kBy == ProductBy::tensor && sizeof(Real<T>) == 4
                                  ? (sizeof(T) == 8 || kSwapped ? 4 : 8)
                              : sizeof(Real<T>) == 4 || !kSwapped ? kWide * int(sizeof(Real<T>) / 4)
                                                                  : 4;
  static constexpr int kPitch = (kSwapped ? kDepth : kRows) + kPad;
  static constexpr int kElements = kPitch * (kSwapped ? kRows : kDepth);

  __device__ __forceinline__ static constexpr int index(int row, int k) {
    return kSwapped ? row * kPitch + k : k * kPitch + row;
  }

  /// The rows from some row on, as an operand of a product.
  struct Operand {
    static constexpr int kDepth = kDepthCount;
    const T* first;
    __device__ __forceinline__ const T* at(int row, int k) const { return first + index(row, k); }
  };
  __device__ __forceinline__ static Operand operand(const T* staged, int row = 0) {
    return {staged + index(row, 0)};
  }

  /// Copies one stage after the other, kRun elements at a time, which lie side by side in memory.
  /// @tparam kPartial there may be fewer rows than kRows. @tparam kPastFirst see
  /// copy_async_of_line.
  template <int kRun, bool kPartial, int kThreads = 32, bool kPastFirst = false>
  struct Copier {
    static constexpr int kLine = (kSwapped ? kDepth : kRows) / kRun;  ///< copies of a line
    static constexpr int kLines = kSwapped ? kRows : kDepth, kAtOnce = kThreads / kLine;
    static_assert(kLine <= kThreads && (kPartial || kAtOnce <= kLines));
    const T* from;      ///< of this thread
    int64_t line_step;  ///< to its next copy
    int64_t stage_step;
    int first_line, at, offset;
    int lines;  ///< that this thread has copies of

    /// @param a the first row's element in column 0.
    __device__ __forceinline__ Copier(const T* a, int64_t ld, int rows, int thread)
        : line_step(kAtOnce * ld),
          stage_step(kSwapped ? kDepth : kDepth * ld),
          first_line(thread / kLine),
          at(thread % kLine * kRun),
          offset(first_line * kPitch + at),
          lines(kSwapped    ? min(rows, kRows)
                : at < rows ? kDepth
                            : 0) {
      from = a + first_line * ld + at;
    }
    /// The next kDepth columns. Of swapped storage they are parts of lines, whose others are next.
    __device__ __forceinline__ void copy(T* to) {
      const T* p = from;
#pragma unroll
      for (int line = 0; line < kLines; line += kAtOnce, p += line_step) {
        if (kPartial && first_line + line >= lines) continue;
        if constexpr (kSwapped)
          copy_async_of_line<kRun * sizeof(T), kPastFirst>(to + offset + line * kPitch, p);
        else
          copy_async<kRun * sizeof(T)>(to + offset + line * kPitch, p);
      }
      from += stage_step;
    }
    /// As if copied already.
    __device__ __forceinline__ void skip() { from += stage_step; }
    /// The last `depth` columns; beyond them zero, for which a copy of no bytes reads nothing.
    __device__ __forceinline__ void copy_last(T* to, int depth) const {
      const T* p = from;
#pragma unroll 1
      for (int line = 0; line < kLines; line += kAtOnce, p += line_step) {
        if (kPartial && first_line + line >= lines) break;
        const int elements = kSwapped                    ? max(0, min(depth - at, kRun))
                             : first_line + line < depth ? kRun
                                                         : 0;
        copy_async<kRun * sizeof(T)>(to + offset + line * kPitch, p, elements * int(sizeof(T)));
      }
    }
  };
};

}  // namespace chol::cuda
