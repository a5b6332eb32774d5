// Threads a matrix and orders of threads/solve.cuh and threads/factor.cuh (threads/instances.def),
// and the resources of their blocks. Plain C++, as block_shape.hpp.
#pragma once

#include "interleaved/block_shape.hpp"
#include "interleaved/task.hpp"

namespace chol::cuda {

/// Shape of threads/solve.cuh and threads/factor.cuh: threads a matrix, and trailing columns in
/// their registers. Kernels are built for orders that are multiples of the threads.
struct ThreadsShape {
  int threads, columns;
  constexpr int matrices() const { return kWarpThreads / threads; }
  constexpr int order(int n) const { return (n + threads - 1) / threads * threads; }
};
struct ThreadsRow {
  char precision;
  InterleavedTask task;
  int largest;  ///< order
  ThreadsShape shape;
};
/// More threads a matrix allow more warps, but shorter contiguous accesses and more redundant work.
/// Measured on an H200 for each order; beyond the last row shared/factor.cuh is as fast.
inline constexpr ThreadsRow kThreadsRows[] = {
#define CHOL_INSTANCE(precision, task, largest, threads, columns) \
  {*#precision, InterleavedTask::task, largest, {threads, columns}},
#include "interleaved/threads/instances.def"
};

/// The orders of thread/left_looking.cuh, one thread a matrix; none for solves.
struct LeftLookingOrders {
  int least = 1, largest = 0;
};
constexpr LeftLookingOrders left_looking_orders(char precision, InterleavedTask task) {
  constexpr struct {
    char precision;
    InterleavedTask task;
    LeftLookingOrders orders;
  } kRows[] = {
#define CHOL_LEFT_LOOKING_INSTANCE(precision, task, least, largest) \
  {*#precision, InterleavedTask::task, {least, largest}},
#include "interleaved/thread/instances.def"
  };
  for (const auto& row : kRows)
    if (row.precision == precision && row.task == task) return row.orders;
  return {};
}

/// The rows of a precision and task.
struct ThreadsTable {
  char precision;
  InterleavedTask task;

  /// 0 threads if one thread works on a matrix, or if there is no kernel.
  constexpr ThreadsShape shape(int n) const {
    if (n > left_looking_orders(precision, task).largest)
      for (const ThreadsRow& row : kThreadsRows)
        if (row.precision == precision && row.task == task && n <= row.largest) return row.shape;
    return {0, 0};
  }
  constexpr int largest() const {
    int most = 0;
    for (const ThreadsRow& row : kThreadsRows)
      if (row.precision == precision && row.task == task && row.largest > most) most = row.largest;
    return most;
  }
};
/// Offset of column j in a thread's words, after the thread's rows that may be below the diagonal
/// of earlier columns. @param n a multiple of `threads`.
CHOL_HOST_DEVICE constexpr int held_column_offset(int n, int threads, int j) {
  const int whole = (j + 1) / threads;
  return j * (n / threads) - threads * (whole * (whole - 1) / 2) - (j + 1) % threads * whole;
}
/// Elements that a thread has in shared memory; its pivots follow.
CHOL_HOST_DEVICE constexpr int held_words(int n, ThreadsShape shape) {
  return held_column_offset(n, shape.threads, n - shape.columns);
}
constexpr int64_t held_block_bytes(char precision, int n, ThreadsShape shape) {
  const int order = shape.order(n);
  const int64_t pivot = precision == 's' || precision == 'c' ? 4 : 8;
  return (held_words(order, shape) * element_bytes(precision) + order / shape.threads * pivot) *
         kWarpThreads;
}

}  // namespace chol::cuda
