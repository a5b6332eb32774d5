// Which orders the kernels of interleaved batches serve, and the resources of a multiprocessor that
// a block takes. Plain C++: chol-tune excludes choices by it.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define CHOL_HOST_DEVICE __host__ __device__
#else
#define CHOL_HOST_DEVICE
#endif

namespace chol::cuda {

constexpr int64_t element_bytes(char precision) {
  return precision == 's' ? 4 : precision == 'z' ? 16 : 8;
}
/// A constant for elements of 4, 8 and 16 bytes.
constexpr int by_size(int64_t bytes, int of_4, int of_8, int of_16) {
  return bytes == 4 ? of_4 : bytes == 8 ? of_8 : of_16;
}

/// Largest order whose triangle fits the registers of a thread.
constexpr int register_order(char wanted) {
#define CHOL_REGISTERS_INSTANCE(precision, largest) \
  if (wanted == *#precision) return largest;
#include "interleaved/thread/instances.def"
  return 0;
}
/// Leading columns of thread/left_looking.cuh in shared memory, half of `halves` for each order
/// above the largest one that fits the registers. With fewer columns there registers spill or, in s
/// and c, the code exceeds the instruction cache (128 KB), which costs half the speed.
struct KeptColumns {
  int order, halves, more;
  constexpr int of(int n) const { return n > order ? (halves * (n - order) + more) / 2 : 0; }
};
struct ColumnLimits {
  KeptColumns factor, factor_and_solve;
};
constexpr ColumnLimits column_limits(char precision) {
  switch (precision) {
    case 's':
      return {{28, 4, 0}, {26, 4, -2}};
    case 'd':
      return {{20, 2, 0}, {19, 2, 0}};
    case 'c':
      return {{20, 3, 2}, {18, 2, 4}};
    default:
      return {{14, 2, 0}, {12, 2, 0}};
  }
}
constexpr KeptColumns kept_rule(char precision, bool solves) {
  const ColumnLimits limits = column_limits(precision);
  return solves ? limits.factor_and_solve : limits.factor;
}
constexpr int kept_columns(char precision, int n, bool solves) {
  return kept_rule(precision, solves).of(n);
}
/// Threads of a block of thread/left_looking.cuh, one matrix each, and of threads/solve.cuh and
/// threads/factor.cuh.
inline constexpr int kWarpThreads = 32;

/// Columns in flight to shared memory in thread/left_looking.cuh, including the current one.
inline constexpr int kColumnsAhead = 3;

/// Elements that a thread of thread/left_looking.cuh has in registers during column j < n, or at
/// the end for j = n, of all rows from column `kept` on: unfinished rows, finished rows from
/// `settled` on, and the right-hand side.
constexpr int held_elements(int n, int kept, int settled, int j) {
  const auto columns = [&](int last) { return last < kept ? 1 : last + 1 - kept; };
  int elements = j < n ? n - (j < settled ? j : settled) : n;
  for (int i = settled; i < n; ++i) elements += columns(i < j ? i : j);
  for (int i = j; i < settled; ++i) elements += columns(j);
  return elements;
}
constexpr int most_held_elements(int n, int kept, int settled) {
  int most = 0;
  for (int j = 0; j <= n; ++j) {
    const int elements = held_elements(n, kept, settled, j);
    if (elements > most) most = elements;
  }
  return most;
}
/// Leading rows of thread/left_looking.cuh that are moved to shared memory when finished, if a
/// solve needs them again: the smallest number with which the others take no more registers than
/// the factorization.
constexpr int settled_rows(int n, int kept) {
  const int most = most_held_elements(n, kept, n - 1);
  int rows = 0;
  while (rows < n && most_held_elements(n, kept, rows) > most) ++rows;
  return rows;
}
/// A thread's words of shared memory in thread/left_looking.cuh: the kept columns below the
/// diagonal, then finished rows growing from the front and columns in flight shrinking from the
/// back. Offset of kept column k, rows k + 1 to n - 1.
CHOL_HOST_DEVICE constexpr int kept_offset(int n, int k) { return k * (n - 1) - k * (k - 1) / 2; }
/// Offset of finished row i: its elements from column `kept` on, with the reciprocal of the pivot
/// as the last one, and its right-hand side.
CHOL_HOST_DEVICE constexpr int settled_offset(int kept, int i) {
  const int whole = i > kept ? i - kept : 0;
  return 2 * i + whole * (whole - 1) / 2;
}
/// Offset from the end of column j in flight. Columns alternate between kColumnsAhead buffers, each
/// as long as the first column of a round, so that none overlaps those of the round before.
CHOL_HOST_DEVICE constexpr int distance_under_way(int n, int j) {
  const int place = j % kColumnsAhead, length = n - (j - place);
  return (place + 1) * length - place;
}
/// @param settled leading rows that stay there: none without a solve.
constexpr int column_elements(int n, int kept, int settled) {
  int most = 0;
  for (int j = 0; j < n; ++j) {
    const int done = settled_offset(kept, j < settled ? j : settled);
    if (done + distance_under_way(n, j) > most) most = done + distance_under_way(n, j);
  }
  const int all_done = settled_offset(kept, settled);
  return kept_offset(n, kept) + (most > all_done ? most : all_done);
}
constexpr int64_t column_block_bytes(int64_t bytes, int n, int kept, int settled) {
  return column_elements(n, kept, settled) * kWarpThreads * bytes;
}
/// Elements of the columns of an order before the last `held`.
constexpr int leading_elements(int n, int held) {
  const int before = n - held;
  return before * n - before * (before - 1) / 2;
}
/// Largest order of warp/block_kernel.cuh.
inline constexpr int kWarpFactorOrder = 256;
/// Shape of warp/block_kernel.cuh: matrices of a block, warps a matrix.
struct WarpsParams {
  int matrices = 0, warps = 0;
};
/// Shape of shared/factor.cuh: columns of a block column, matrices a block, threads of a block.
struct SharedKnobs {
  int columns = 0, lanes = 0, threads = 0;
  constexpr int slots() const { return threads / lanes; }  ///< threads a matrix
};
/// Most rows of a block column that a thread holds.
inline constexpr int kSharedRows = 4;
/// Padding after a triangle, which rows or columns past its edge may read.
CHOL_HOST_DEVICE constexpr int shared_slack(int columns, int slots) { return slots + columns; }

/// Offset of block column J, stored as consecutive rectangles from the diagonal down.
template <class I>
CHOL_HOST_DEVICE constexpr I block_column_offset(I n, I columns, I J) {
  return columns * (J * n - columns * (J * (J - 1) / 2));
}
/// Vectors in addition to a triangle for so many right-hand sides at a time: a single right-hand
/// side of a solve has a second one.
constexpr int64_t shared_vectors(bool factors, int64_t solvers) {
  return solvers == 1 && !factors ? 2 : solvers;
}
constexpr int64_t shared_block_bytes(int64_t bytes, int64_t n, int64_t vectors,
                                     const SharedKnobs& knobs) {
  if (n < 1 || n > 1024) return INT64_MAX;
  const int64_t columns = knobs.columns, blocks = (n + columns - 1) / columns;
  const int64_t elements = block_column_offset(n, columns, blocks) +
                           shared_slack(knobs.columns, knobs.slots()) + vectors * n;
  return elements * knobs.lanes * bytes;
}
/// Whether the threads of a block form full warps and matrices. @param factors the first rows of a
/// block column, which all threads hold together, must extend past its diagonal block.
constexpr bool shared_threads_fit(const SharedKnobs& knobs, bool factors) {
  return knobs.lanes >= 1 && knobs.columns >= 1 && knobs.threads >= 1 &&
         knobs.threads % knobs.lanes == 0 && knobs.threads % 32 == 0 &&
         (!factors || knobs.slots() * kSharedRows >= knobs.columns);
}

}  // namespace chol::cuda
