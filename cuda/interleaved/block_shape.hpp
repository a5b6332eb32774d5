// Which orders the kernels of interleaved batches serve, and what a block of them takes of a
// multiprocessor. Plain C++: chol-tune leaves plans out by it.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define CHOL_HOST_DEVICE __host__ __device__
#else
#define CHOL_HOST_DEVICE
#endif

namespace chol::cuda {

/// A constant for elements of 4, 8 and 16 bytes.
constexpr int by_size(int64_t bytes, int of_4, int of_8, int of_16) {
  return bytes == 4 ? of_4 : bytes == 8 ? of_8 : of_16;
}

/// Largest order that the registers of a thread hold.
constexpr int register_order(int64_t bytes) { return by_size(bytes, 20, 14, 9); }
/// Largest order of columns.cuh that needs no more than registers.
constexpr int column_register_order(int64_t bytes) { return by_size(bytes, 28, 20, 14); }
/// Leading columns of columns.cuh in shared memory: the rest then needs no more registers than an
/// order that has none there.
constexpr int kept_columns(int64_t bytes, int n) {
  const int beyond = n - column_register_order(bytes);
  return beyond > 0 ? beyond + (bytes == 4 ? 0 : 2) : 0;
}
/// Trailing columns of held_solve.cuh in registers.
constexpr int held_columns(int64_t bytes) { return by_size(bytes, 16, 12, 6); }

/// Threads of a block of columns.cuh and held_solve.cuh, a matrix each.
inline constexpr int kWarpThreads = 32;
/// Columns under way to shared memory in columns.cuh while one is worked on, that one counted.
inline constexpr int kColumnsAhead = 3;

constexpr int64_t column_block_bytes(int64_t bytes, int n, int kept) {
  return int64_t(kColumnsAhead + kept) * n * kWarpThreads * bytes;
}
/// Elements of the columns of an order before the last `held`.
constexpr int leading_elements(int n, int held) {
  const int before = n - held;
  return before * n - before * (before - 1) / 2;
}
constexpr int64_t held_block_bytes(int64_t bytes, int n, int held) {
  return int64_t(leading_elements(n, held)) * kWarpThreads * bytes;
}

/// How shared.cuh works: columns of a block column, matrices side by side, threads of a block.
struct SharedKnobs {
  int columns = 0, lanes = 0, threads = 0;
  constexpr int slots() const { return threads / lanes; }  ///< threads a matrix
};
/// Most rows of a block column that a thread holds.
inline constexpr int kSharedRows = 4;
/// Elements past the end of a triangle that a row or column past its edge may be read from.
CHOL_HOST_DEVICE constexpr int shared_slack(int columns, int slots) { return slots + columns; }

/// Where block column J begins, of rectangles from the diagonal down that lie one after the other.
template <class I>
CHOL_HOST_DEVICE constexpr I block_column_offset(I n, I columns, I J) {
  return columns * (J * n - columns * (J * (J - 1) / 2));
}
/// @param solvers right-hand sides of a matrix that are worked on at a time; the only one has a
/// second column.
constexpr int64_t shared_block_bytes(int64_t bytes, int64_t n, int64_t solvers,
                                     const SharedKnobs& knobs) {
  if (n < 1 || n > 1024) return INT64_MAX;
  const int64_t columns = knobs.columns, blocks = (n + columns - 1) / columns;
  const int64_t elements = block_column_offset(n, columns, blocks) +
                           shared_slack(knobs.columns, knobs.slots()) +
                           (solvers == 1 ? 2 : solvers) * n;
  return elements * knobs.lanes * bytes;
}
/// Whether the threads of a block make whole warps and matrices. @param factors the first rows of
/// a block column, which all threads hold at once, have to reach past its diagonal block.
constexpr bool shared_threads_fit(const SharedKnobs& knobs, bool factors) {
  return knobs.lanes >= 1 && knobs.columns >= 1 && knobs.threads >= 1 &&
         knobs.threads % knobs.lanes == 0 && knobs.threads % 32 == 0 &&
         (!factors || knobs.slots() * kSharedRows >= knobs.columns);
}

}  // namespace chol::cuda
