// Barriers and flags for contexts of the host. The blocks of a grid are one HostBlock: they run at
// the same time.
#pragma once

#include "common/cp_async.cuh"

namespace chol::cuda::persistent {

/// Number of arrivals before the previous phase was waited for, which PTX does not allow.
inline int early_arrivals = 0;

/// As on a device, phases are distinguished by their parity: a thread that is two behind waits
/// forever, or not at all.
struct Barrier {
  int phase;
  mutable int awaited;  ///< phases that have been waited for
  short expected, missing;

  void prepare(int count) {
    phase = awaited = 0;
    expected = missing = static_cast<short>(count);
  }
  void prepare_for_warps(int warps) { prepare(warps); }
  void arrive() {
    precede(place_of(phase & 1));
    count_arrival();
    HostBlock::current->note_step();
  }
  void arrive_warp(int lane) {
    __syncwarp();
    if (lane == 0) arrive();
  }
  /// Pending copies are executed here at the latest.
  void arrive_after_copies() {
    close_copy_group();
    wait_for_copy_groups<0>();
    HostBlock::current->self().groups.resize(1);
    arrive();
  }
  void wait(unsigned parity) const {
    while (is_to_come(parity)) HostBlock::current->give_way();
    note_wait();
    follow(place_of(parity));
    __syncwarp();
  }

 private:
  CHOL_UNINSTRUMENTED void note_wait() const { awaited = phase; }
  CHOL_UNINSTRUMENTED void count_arrival() {
    early_arrivals += awaited < phase;
    if (--missing > 0) return;
    missing = expected;
    ++phase;
  }
  CHOL_UNINSTRUMENTED bool is_to_come(unsigned parity) const { return (phase & 1) == parity; }
  const char* place_of(unsigned parity) const {
    return reinterpret_cast<const char*>(&phase) + parity;
  }
};

/// Writes before a flag is set are ordered before reads after it was waited for.
inline void add_release(int* p, int value) {
  const Unseen unseen;
  precede(p);
  *p += value;
  HostBlock::current->note_step();
}
inline void store_release(int* p, int value) {
  const Unseen unseen;
  precede(p);
  *p = value;
  HostBlock::current->note_step();
}
CHOL_UNINSTRUMENTED inline int value_of(const int* p) { return *p; }
inline int wait_for(const int* p, int value) {
  while (value_of(p) < value) HostBlock::current->give_way();
  follow(p);
  return value_of(p);
}

inline void meet_pair(int) { HostBlock::current->meet(64); }

}  // namespace chol::cuda::persistent
