// A loop over a team of threads with work stealing: each thread processes its own share and then
// takes chunks of other shares. A thread that loses its core delays at most one chunk.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/scalar.hpp"
#include "base/threads/thread_pool.hpp"

namespace chol {

/// Approximate time of one core for this number of operations, with operands in registers and
/// caches; it determines the number of threads of a loop.
template <class T>
constexpr double serial_ns(double flops) {
  constexpr double kFlopsPerNs = 10;
  return flops / kFlopsPerNs * sizeof(RealOf<T>) / sizeof(double);
}

/// The same for tile kernels, whose rate is higher. @param flops as if the elements were real
inline double tile_kernel_ns(double flops, size_t element_bytes, size_t real_bytes) {
  constexpr double kFlopsPerNsTimesBytes = 160;  // 20 in double precision
  const double parts = static_cast<double>(element_bytes) / static_cast<double>(real_bytes);
  return flops * parts * parts * static_cast<double>(real_bytes) / kFlopsPerNsTimesBytes;
}

/// Partition of a loop into `shares` of consecutive indices, and of these into chunks, of which a
/// thread takes one at a time. With one share chunks are started in the order of the loop, for work
/// of descending size.
struct LoopPartition {
  static constexpr int kMostShares = 64;  ///< with more threads, several use one share
  static constexpr double kLong = 1e9;
  int64_t count;
  int64_t chunk;
  int shares;
  double serial_ns = kLong;  ///< estimated time of one core for the whole loop
};

template <class Body>
class SharedLoop final : public TeamWork {
 public:
  SharedLoop(const LoopPartition& cuts, int threads, const Body& body) : cuts_(cuts), body_(body) {
    has_own_shares_ = cuts.shares == threads;
    for (int s = 0; s < cuts.shares; ++s) {
      shares_[s].next.store(cuts.count * s / cuts.shares, std::memory_order_relaxed);
      shares_[s].end = cuts.count * (s + 1) / cuts.shares;
    }
  }
  Outcome advance(int worker) override {
    for (int s = 0; s < cuts_.shares; ++s)
      if (!work_on(shares_[(worker + s) % cuts_.shares], s == 0 && has_own_shares_, worker))
        return Outcome::called_away;
    return Outcome::finished;
  }

 private:
  /// Two lines each, to avoid false sharing.
  struct Share {
    std::atomic<int64_t> next;
    int64_t end;
    int64_t apart[14];
  };
  /// Returns whether the share was completed; otherwise the worker was called away.
  bool work_on(Share& share, bool is_own, int worker) {
    while (!is_called_away(worker)) {
      int64_t i = share.next.fetch_add(cuts_.chunk, std::memory_order_relaxed);
      if (i >= share.end) return true;
      const int64_t last = std::min(i + cuts_.chunk, share.end);
      for (; i < last; ++i) body_(i, i + 1 < (is_own ? share.end : last), worker);
    }
    return false;
  }

  const LoopPartition& cuts_;
  const Body& body_;
  bool has_own_shares_;
  Share shares_[LoopPartition::kMostShares];
};

/// Calls body(i, goes_on, thread) once for each i in [0, count). `goes_on` is true if i + 1 is
/// probably the next index of this thread, so that body can prefetch it. A single thread works in
/// order, without a team.
template <class Body>
void parallel_for(const LoopPartition& cuts, int threads, const Body& body) {
  if (threads <= 1) {
    for (int64_t i = 0; i < cuts.count; ++i) body(i, i + 1 < cuts.count, 0);
    return;
  }
  SharedLoop<Body> loop(cuts, threads, body);
  ThreadPool::instance().run(loop, {threads, cuts.serial_ns});
}

}  // namespace chol
