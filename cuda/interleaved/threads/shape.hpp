// By how many threads a matrix threads/solve.cuh and threads/factor.cuh work, on which orders, and
// what a block of theirs takes of a multiprocessor. Plain C++, as block_shape.hpp.
#pragma once

#include "interleaved/block_shape.hpp"

namespace chol::cuda {

/// How threads/solve.cuh and threads/factor.cuh work: threads a matrix, and trailing columns in
/// their registers. Kernels are built for multiples of so many threads.
struct ThreadsShape {
  int threads, columns;
  constexpr int matrices() const { return kWarpThreads / threads; }
  constexpr int order(int n) const { return (n + threads - 1) / threads * threads; }
};
struct ThreadsRow {
  int largest;  ///< order
  ThreadsShape shape;
};
struct ThreadsTable {
  ThreadsRow rows[9];
  constexpr ThreadsShape shape(int n) const {
    for (const ThreadsRow& row : rows)
      if (n <= row.largest) return row.shape;
    return {0, 0};
  }
  constexpr int largest() const {
    int most = 0;
    for (const ThreadsRow& row : rows) most = row.largest > most ? row.largest : most;
    return most;
  }
  /// Largest order of thread/left_looking.cuh: one thread a matrix, nothing held.
  constexpr int largest_of_columns() const {
    int most = 0;
    for (const ThreadsRow& row : rows)
      if (row.shape.threads == 0 && row.largest > most) most = row.largest;
    return most;
  }
};
/// More threads a matrix leave room for more warps, but each then has less of a line of memory, and
/// what they all do grows beside what they share. Measured on an H200 order by order; beyond the
/// last row shared/factor.cuh is as fast.
constexpr ThreadsTable threads_table(char precision, bool factors, bool solves) {
  constexpr ThreadsShape kByColumns{0, 0};
  switch (precision) {
    case 's':
      if (!factors)
        return {{{24, {1, 17}},
                 {26, {2, 14}},
                 {27, {2, 16}},
                 {28, {1, 18}},
                 {34, {2, 22}},
                 {36, {2, 26}},
                 {44, {4, 28}}}};
      if (!solves) return {{{30, kByColumns}, {32, {2, 22}}, {40, {4, 24}}}};
      return {{{27, kByColumns}, {30, {2, 20}}, {32, {4, 16}}, {40, {4, 24}}, {44, {4, 28}}}};
    case 'd':
      if (!factors)
        return {{{17, {1, 12}},
                 {19, {2, 11}},
                 {26, {2, 16}},
                 {28, {4, 18}},
                 {30, {2, 14}},
                 {32, {4, 22}},
                 {34, {2, 14}},
                 {36, {4, 14}},
                 {44, {4, 16}}}};
      if (!solves)
        return {{{27, kByColumns},
                 {28, {4, 20}},
                 {30, {2, 14}},
                 {32, {4, 20}},
                 {40, {4, 16}},
                 {44, {4, 12}}}};
      return {{{24, kByColumns},
               {26, {4, 16}},
               {28, {4, 20}},
               {30, {2, 14}},
               {36, {4, 20}},
               {40, {4, 16}}}};
    case 'c':
      if (!factors)
        return {{{16, {1, 12}},
                 {19, {2, 13}},
                 {20, {2, 14}},
                 {24, {2, 15}},
                 {26, {2, 14}},
                 {28, {4, 18}},
                 {32, {4, 22}},
                 {36, {2, 14}}}};
      if (!solves)
        return {{{24, kByColumns}, {26, {2, 14}}, {28, {4, 16}}, {30, {2, 14}}, {32, {4, 20}}}};
      return {{{16, kByColumns},
               {18, {2, 10}},
               {22, {2, 12}},
               {24, {4, 12}},
               {26, {2, 10}},
               {28, {4, 16}}}};
    default:
      if (!factors)
        return {{{11, {1, 7}},
                 {14, {2, 8}},
                 {18, {2, 10}},
                 {20, {2, 7}},
                 {22, {2, 5}},
                 {24, {2, 10}},
                 {32, {4, 11}},
                 {36, {4, 13}}}};
      if (!solves) return {{{18, kByColumns}, {20, {4, 12}}, {22, {2, 4}}, {24, {4, 8}}}};
      return {{{17, kByColumns}, {18, {2, 8}}, {20, {2, 6}}, {22, {2, 4}}, {28, {4, 8}}}};
  }
}
/// Where column j begins among a thread's words: of those before it, its rows that may be below the
/// diagonal. @param n a multiple of `threads`.
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
