// The matrices that lanes work on next, on their way into the cache.
#pragma once

#include "host/kernels/lane_buffer.hpp"

namespace chol::CHOL_ISA {

/// The triangles of the next group, brought near beside the work on this one, which leaves the way
/// to memory idle. Few lines at a time: each takes one of the core's dozen miss buffers, and all
/// loads wait when none is left. A line of every matrix in turn: as many streams for the hardware's
/// own prefetch to take up.
template <class T>
class NextGroup {
 public:
  static constexpr int kLanes = LaneBuffer<T>::kLanes;

  /// @param calls that have to bring everything, about.
  NextGroup(const host::LaneGroup& group, int64_t calls) : group_(group) {
    if (group.next_A[0] == nullptr) return;
    left_ = group.n;
    const int64_t bytes = int64_t(sizeof(T)) * group.n * (group.n + 1) / 2;
    per_call_ = kLanes * (bytes / kLine + group.n / 2) / calls + 1;
  }
  CHOL_INLINE void operator()() {
    if (left_ > 0 || at_ < end_) fetch_some();
  }

 private:
  static constexpr int64_t kLine = 64;

  __attribute__((noinline)) void fetch_some() {
    keep_prefetches();
    for (int64_t i = 0; i < per_call_; ++i) {
      while (at_ >= end_) {
        if (left_ == 0) return;
        start_column();
      }
      __builtin_prefetch(static_cast<const char*>(group_.next_A[lane_]) + at_, 0, 2);
      if (++lane_ == kLanes) {
        lane_ = 0;
        at_ += kLine;
      }
    }
  }
  /// Lines count from where they start in the first matrix. Columns may share one.
  void start_column() {
    const int64_t j = group_.n - left_--, top = group_.upper ? 0 : j;
    const int64_t first = (top + j * group_.lda) * int64_t(sizeof(T));
    const int64_t skew = reinterpret_cast<uintptr_t>(group_.next_A[0]) % kLine;
    at_ = larger(at_, (first + skew) / kLine * kLine - skew);
    end_ = ((group_.upper ? j + 1 : group_.n) + j * group_.lda) * int64_t(sizeof(T));
  }

  const host::LaneGroup& group_;
  int64_t left_ = 0;                        ///< columns
  int64_t at_ = INT64_MIN / 2, end_ = at_;  ///< bytes into every matrix
  int64_t per_call_ = 0;
  int lane_ = 0;
};

}  // namespace chol::CHOL_ISA
