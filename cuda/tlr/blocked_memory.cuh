// Shared memory of the factorizations of blocked_factorization.cuh, and integer keys of column
// norms.
#pragma once

#include <cstring>

#include "tlr/core.cuh"
#include "tlr/panel.cuh"

namespace chol::cuda::tlr {

inline constexpr int kBlockedWarps = 8, kBlockedThreads = 32 * kBlockedWarps;

inline constexpr int kMostBlockedColumns = 512;

/// A norm as an integer of the same order, whose last bits encode the column: among equal norms the
/// first column has the largest key.
template <class R>
__device__ inline int order_key(R norm, int column) {
  constexpr int kMask = kMostBlockedColumns - 1;
  int bits;
  if constexpr (sizeof(R) == 8) {
    int64_t all;
    memcpy(&all, &norm, sizeof all);
    bits = static_cast<int>(all >> 32);
  } else {
    memcpy(&bits, &norm, sizeof bits);
  }
  return bits > kMask ? (bits & ~kMask) | (kMask - column) : 0;
}
/// An upper bound of the norm of a key.
template <class R>
__device__ inline R norm_of_key(int key) {
  if (key <= 0) return R(0);
  constexpr int kMask = kMostBlockedColumns - 1;
  R norm;
  if constexpr (sizeof(R) == 8) {
    const int64_t all = int64_t{key | kMask} << 32;
    memcpy(&norm, &all, sizeof norm);
  } else {
    const int bits = key | kMask;
    memcpy(&norm, &bits, sizeof norm);
  }
  return norm <= largest(norm) ? norm : R(INFINITY);
}

struct alignas(16) Keys {
  int of[4];
};

/// Shared memory of a block.
template <class T>
struct BlockedCoreMemory {
  using R = Real<T>;
  struct Panel {
    T gram[kPanel * kPanel], upper[kPanel * kPanel];  ///< row-major; upper: columns by slots
    R reciprocals[kPanel], first[kPanel];
    int chosen[kPanel], order[kPanel];
    int rest, accepted;  ///< rest: the key of the longest column not chosen
  };
  T *X, *P, *scratch;
  R* sums;
  int *keys, *pivots;
  Panel* panel;
  int ld, rows;

  /// @param key_count number of keys, a multiple of 4
  __host__ __device__ size_t lay_out(char* start, int core_rows, int all_columns, int key_count,
                                     int blocks) {
    const auto up = [](int n) { return (n + 15) / 16 * 16; };
    rows = (core_rows + kRowStep - 1) / kRowStep * kRowStep;
    ld = rows + 4;
    size_t used = 0;
    carve(start, used, X, up((all_columns + blocks - 1) / blocks) * ld);
    carve(start, used, P, kPanel * ld);
    carve(start, used, scratch, kBlockedWarps * kWarpScratch);
    carve(start, used, panel, 1);
    carve(start, used, sums, kBlockedWarps * kTileColumns);
    carve(start, used, keys, up(key_count));
    carve(start, used, pivots, up(all_columns));
    return used;
  }
  static size_t bytes(int core_rows, int all_columns, int tests, int blocks) {
    return BlockedCoreMemory().lay_out(nullptr, core_rows, all_columns, keys_of(all_columns, tests),
                                       blocks);
  }
  /// Candidates come first and are read four at a time.
  __host__ __device__ static int keys_of(int all_columns, int tests) {
    return place_of_tests(all_columns, tests) + tests;
  }
  __host__ __device__ static int place_of_tests(int all_columns, int tests) {
    return (all_columns - tests + 3) / 4 * 4;
  }
};

}  // namespace chol::cuda::tlr
