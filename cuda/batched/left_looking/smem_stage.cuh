// Stages of a few columns in shared memory, the operands of the products, and the copies to them.
#pragma once

#include <type_traits>

#include "batched/left_looking/shape.hpp"
#include "common/cp_async.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// How contiguous elements are copied: 16 bytes at a time; misaligned ones also 16 bytes at a time,
/// from the aligned address before their first element, and therefore shifted in shared memory; or
/// element by element. A shifted copy reads only 16-byte words that hold an element, so it stays in
/// bounds.
enum class Runs { aligned, shifted, elements };
/// Calls body(std::integral_constant of how) for elements of 16 / kWide bytes.
template <int kWide, bool kShifts, class Body>
__device__ __forceinline__ void choose_runs(bool aligned, Body&& body) {
  constexpr Runs kOther = kShifts ? Runs::shifted : Runs::elements;
  if (kWide == 1 || aligned)
    body(std::integral_constant<Runs, Runs::aligned>{});
  else if constexpr (kWide > 1)
    body(std::integral_constant<Runs, kOther>{});
}

/// Rows of kDepthCount columns in shared memory, in the order of device memory: contiguous columns
/// or, with swapped storage, contiguous rows.
template <class T, int kRows, int kDepthCount, bool kSwapped, ProductBy kBy>
struct StagedRows {
  static constexpr int kDepth = kDepthCount;
  static constexpr int kWide = 16 / sizeof(T);
  /// Spreads the operand reads of products over all banks: tensor cores read 8 rows by 4 columns.
  static constexpr int pad() {
    if (kSwapped) return sizeof(Real<T>) == 4 && kBy == ProductBy::fma ? kWide : 4;
    if (kBy == ProductBy::fma) return kWide * int(sizeof(Real<T>) / 4);
    int columns = kWide;
    while ((kRows + columns) * sizeof(T) % 64 != 32) ++columns;
    return columns;
  }
  static constexpr int kPad = pad();
  static constexpr int kPitch = (kSwapped ? kDepth : kRows) + kPad;
  static constexpr int kElements = kPitch * (kSwapped ? kRows : kDepth);

  __device__ __forceinline__ static constexpr int index(int row, int k) {
    return kSwapped ? row * kPitch + k : k * kPitch + row;
  }

  /// The rows from a given row on, as an operand of a product.
  struct Operand {
    static constexpr int kDepth = kDepthCount;
    const T* first;
    __device__ __forceinline__ const T* at(int row, int k) const { return first + index(row, k); }
  };
  /// @param shift of the lines that the calling thread reads.
  __device__ __forceinline__ static Operand operand(const T* staged, int row = 0, int shift = 0) {
    return {staged + index(row, 0) + shift};
  }

  /// Offset of a line's first element from the 16-byte boundary before it: equal for all lines
  /// whose distance is a multiple of kWide. @param a of line 0.
  __device__ __forceinline__ static int shift(const T* a, int64_t ld, int line) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(a + line * ld) / sizeof(T) % kWide);
  }
  /// The shift of the lines from which a lane reads its tensor core operands.
  template <Runs kRuns>
  __device__ __forceinline__ static int lane_shift(const T* a, int64_t ld, int lane) {
    return kRuns == Runs::shifted ? shift(a, ld, kSwapped ? lane / 4 : lane % 4) : 0;
  }

  /// Copies one stage after the other. @tparam kPartial whether there may be fewer rows than kRows.
  /// @tparam kPastFirst see copy_async_of_line. @tparam kCopied rows that are copied.
  template <Runs kRuns, bool kPartial, int kThreads = 32, bool kPastFirst = false,
            int kCopied = kRows>
  struct Copier {
    static constexpr bool kShifted = kRuns == Runs::shifted;
    static constexpr int kRun = kRuns == Runs::elements ? 1 : kWide;
    static constexpr int kLength = kSwapped ? kDepth : kCopied;
    static constexpr int kLines = kSwapped ? kCopied : kDepth;
    static constexpr int kLine =
        kLength / kRun;  ///< copies of a line, without the last one of a shifted line
    static constexpr int kAtOnce = kThreads / kLine;
    static_assert(kLine <= kThreads && (kPartial || kAtOnce <= kLines));
    // All lines of a thread have the same shift in all stages, and there is room after a line.
    static_assert(!kShifted || (kAtOnce % kWide == 0 && kDepth % kWide == 0 && kPad >= kWide &&
                                kLines <= kThreads));
    const T* from;      ///< of this thread
    int64_t line_step;  ///< to its next copy
    int64_t stage_step;
    int first_line, at, offset;
    int lines;      ///< that this thread has copies of
    int own_shift;  ///< of its lines
    int rows;       ///< that there are

    /// @param a the first row's element in column 0.
    __device__ __forceinline__ Copier(const T* a, int64_t ld, int rows_there, int thread)
        : line_step(kAtOnce * ld),
          stage_step(kSwapped ? kDepth : kDepth * ld),
          first_line(thread / kLine),
          at(thread % kLine * kRun),
          offset(first_line * kPitch + at),
          own_shift(kShifted ? shift(a, ld, first_line) : 0),
          rows(rows_there) {
      lines = kSwapped ? min(rows, kCopied) : at < rows + own_shift ? kDepth : 0;
      from = a + first_line * ld + at - own_shift;
    }
    /// The next kDepth columns. With swapped storage these are parts of lines, which the next
    /// stages continue.
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
      copy_end(to, kDepth);
      skip();
    }
    /// Skips the copies of a stage.
    __device__ __forceinline__ void skip() { from += stage_step; }
    /// The last `depth` columns; columns beyond become zero by copies of no bytes.
    __device__ __forceinline__ void copy_last(T* to, int depth) const {
      const T* p = from;
#pragma unroll 1
      for (int line = 0; line < kLines; line += kAtOnce, p += line_step) {
        if (kPartial && first_line + line >= lines) break;
        const int elements = kSwapped                    ? max(0, min(depth + own_shift - at, kRun))
                             : first_line + line < depth ? kRun
                                                         : 0;
        copy_async<kRun * sizeof(T)>(to + offset + line * kPitch, p, elements * int(sizeof(T)));
      }
      copy_end(to, depth);
    }

   private:
    /// Copies the rest of a shifted line. Addresses are recomputed from the thread's other copies
    /// each time, since no register is left to keep them.
    __device__ __forceinline__ void copy_end(T* to, int depth) const {
      if constexpr (kShifted) {
        const int line = first_line * kLine + at / kRun;
        const T* const end =
            from + (own_shift - at + kLength) + (line - first_line) * (line_step / kAtOnce);
        const int elements = static_cast<int>(reinterpret_cast<uintptr_t>(end) / sizeof(T) % kWide);
        const bool is_there =
            kSwapped ? line < lines : line < kLines && (!kPartial || rows + elements > kLength);
        if (!is_there || elements == 0) return;
        const int wanted = kSwapped       ? max(0, depth + elements - kLength)
                           : line < depth ? elements
                                          : 0;
        copy_async<16>(to + line * kPitch + kLength, end - elements, wanted * int(sizeof(T)));
      }
    }
  };
};

}  // namespace chol::cuda
