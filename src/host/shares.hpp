// A loop over a team of threads: each starts on a share of its own and, once done, goes on where
// others are not.
#pragma once

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace chol::host {

/// How a loop is cut: into `shares` of neighbours, and those into chunks of which a thread takes
/// one at a time. One share: chunks are begun in the order of the loop, as work that falls in size
/// wants it.
struct Cuts {
  static constexpr int kMostShares = 64;  ///< threads beyond have a share in common
  int64_t count;
  int64_t chunk;
  int shares;
};

/// Calls body(i, goes_on, thread) once for each i in [0, count). Of neighbours in memory that one
/// thread works on, it can fetch the next beside the work on the last: `goes_on` tells that i + 1
/// comes next in this thread, as far as can be known. One thread works in order, without a team.
template <class Body>
void for_each_of_shares(const Cuts& cuts, int threads, const Body& body) {
  if (threads <= 1) {
    for (int64_t i = 0; i < cuts.count; ++i) body(i, i + 1 < cuts.count, 0);
    return;
  }
  // Two lines each, so that no two meet in one. Not by alignas: GCC 13's AddressSanitizer does not
  // keep that of variables that a team shares.
  struct Share {
    std::atomic<int64_t> next;
    int64_t end;
    int64_t apart[14];
  };
  Share shares[Cuts::kMostShares];
  for (int s = 0; s < cuts.shares; ++s) {
    shares[s].next.store(cuts.count * s / cuts.shares, std::memory_order_relaxed);
    shares[s].end = cuts.count * (s + 1) / cuts.shares;
  }
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    for (int s = 0; s < cuts.shares; ++s) {
      Share& share = shares[(thread + s) % cuts.shares];
      const bool is_own = s == 0 && cuts.shares == threads;
      for (int64_t i;
           (i = share.next.fetch_add(cuts.chunk, std::memory_order_relaxed)) < share.end;) {
        const int64_t last = std::min(i + cuts.chunk, share.end);
        for (; i < last; ++i) body(i, i + 1 < (is_own ? share.end : last), thread);
      }
    }
  }
}

}  // namespace chol::host
