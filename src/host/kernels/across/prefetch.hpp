// Prefetching of the matrices that are processed next.
#pragma once

#include "host/kernels/across/transpose.hpp"

namespace chol::CHOL_ISA {

inline constexpr int kLineBytes = 64;

/// Prefetches the line at offset `bytes` of every matrix of the next group to the second-level
/// cache, which has more outstanding misses than the first.
template <class T>
CHOL_INLINE void fetch_line(const host::LaneGroup& group, int64_t bytes) {
  keep_prefetches();
  CHOL_UNROLL
  for (int lane = 0; lane < LaneBuffer<T>::kLanes; ++lane)
    __builtin_prefetch(static_cast<const char*>(group.next_A[lane]) + bytes, 0, 2);
}

/// Prefetches the triangles of the next group during the computation of this one, which does not
/// use the memory bandwidth. Few lines at a time: each occupies one of the core's miss buffers, and
/// loads stall when none is free. One line of every matrix in turn, which the hardware prefetcher
/// sees as one stream a matrix. All are issued in the first three quarters, so that the last ones
/// arrive in time.
template <class T>
class NextGroup {
 public:
  /// @param calls until the next group, approximately.
  NextGroup(const host::LaneGroup& group, int64_t calls) : group_(group), calls_(calls) {
    if (group.next_A[0] == nullptr) return;
    left_ = group.n;
    const int64_t bytes = int64_t(sizeof(T)) * group.n * (group.n + 1) / 2;
    lines_ = (bytes / kLineBytes + group.n / 2 + 1) * 4 / 3;
  }
  CHOL_INLINE void operator()() {
    due_ += lines_;
    if (due_ > 0) fetch_some();
  }

 private:
  __attribute__((noinline)) void fetch_some() {
    for (; due_ > 0; due_ -= calls_) {
      while (at_ >= end_) {
        if (left_ == 0) {
          due_ = lines_ = 0;
          return;
        }
        start_column();
      }
      fetch_line<T>(group_, at_);
      at_ += kLineBytes;
    }
  }
  /// Lines are counted from their start in the first matrix. Columns may share one.
  void start_column() {
    const int64_t j = group_.n - left_--, top = group_.upper ? 0 : j;
    const int64_t first = (top + j * group_.lda) * int64_t(sizeof(T));
    const int64_t skew = reinterpret_cast<uintptr_t>(group_.next_A[0]) % kLineBytes;
    at_ = larger(at_, (first + skew) / kLineBytes * kLineBytes - skew);
    end_ = ((group_.upper ? j + 1 : group_.n) + j * group_.lda) * int64_t(sizeof(T));
  }

  const host::LaneGroup& group_;
  int64_t left_ = 0;                        ///< columns
  int64_t at_ = INT64_MIN / 2, end_ = at_;  ///< bytes into every matrix
  int64_t lines_ = 0, calls_;               ///< lines of a matrix, distributed over the calls
  int64_t due_ = 0;                         ///< lines times calls
};

/// The same for straight-line code of order N: prefetches with column j a share of the bytes
/// [first, last] of the column's part of the triangle or, where columns are contiguous, of the
/// whole matrix. For matrices of a few lines the hardware prefetcher is sufficient.
template <class T, int N>
CHOL_INLINE void fetch_share(const host::LaneGroup& group, int j, int64_t first, int64_t last) {
  constexpr int kBytes = N * N * sizeof(T), kLines = (kBytes + kLineBytes - 1) / kLineBytes;
  if (kBytes < 4 * kLineBytes || group.next_A[0] == nullptr) return;
  if (group.lda == N) {
    CHOL_UNROLL
    for (int line = j * kLines / N; line < (j + 1) * kLines / N; ++line)
      fetch_line<T>(group, line * kLineBytes);
  } else {
    fetch_line<T>(group, first);
    fetch_line<T>(group, last);
  }
}

}  // namespace chol::CHOL_ISA
