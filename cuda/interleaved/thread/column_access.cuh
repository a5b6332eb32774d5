// Element access of thread/left_looking.cuh: the columns of a matrix in device memory, and each
// thread's part in shared memory.
#pragma once

#include "interleaved/element_access.cuh"
#include "interleaved/kernels.hpp"
#include "interleaved/packed_triangles.cuh"

namespace chol::cuda {

inline constexpr int kColumnThreads = kWarpThreads;

/// Iterates over the columns of a matrix in memory; see load_triangle for why it writes in the
/// opposite direction, and computes addresses from the previous column. @tparam kKept leading
/// columns, @tparam kSettled leading rows that stay in shared memory.
template <class E, int N, int kKept, int kSettled>
struct ColumnWalk {
  E *top, *bottom;  ///< positions of the columns to fetch, read and write next
  int64_t rs, cs;
  E* words;  ///< the thread's part of shared memory

  static constexpr int kWords = column_elements(N, kKept, kSettled);

  __device__ __forceinline__ ColumnWalk(LaneMatrix<E> A, E* words_)
      : top(A.base), bottom(&A.at(N - 1, 0)), rs(A.rs), cs(A.cs), words(words_) {}

  __device__ __forceinline__ E& under_way(int i, int j) const {
    return words[(kWords - distance_under_way(N, j) + i - j) * kColumnThreads];
  }
  __device__ __forceinline__ E& kept(int i, int k) const {
    return words[(kept_offset(N, k) + i - k - 1) * kColumnThreads];
  }
  /// Finished row i: j = i is the reciprocal of its pivot, j = i + 1 its right-hand side.
  __device__ __forceinline__ E& settled(int i, int j) const {
    constexpr int kFirst = kept_offset(N, kKept);
    const int column = j - (i < kKept ? i : kKept);
    return words[(kFirst + settled_offset(kKept, i) + column) * kColumnThreads];
  }
  /// Column J minus the products with the kept columns before it.
  template <int J>
  __device__ __forceinline__ void subtract_kept(gpu_lane::Tile<E, N, N>& t) const {
    constexpr int kBefore = J < kKept ? J : kKept;
    const E* column = &kept(J, 0);
#pragma unroll 1
    for (int k = 0; k < kBefore; ++k) {
      const E l = *column;
#pragma unroll
      for (int i = J; i < N; ++i)
        t.e[i][J] = gpu_lane::subtract<false, true>(t.e[i][J], column[(i - J) * kColumnThreads], l);
      column += (N - 2 - k) * kColumnThreads;
    }
  }
  template <int J>
  __device__ __forceinline__ void keep(const gpu_lane::Tile<E, N, N>& t) const {
    if constexpr (J < kKept) {
#pragma unroll
      for (int i = J + 1; i < N; ++i) kept(i, J) = t.e[i][J];
    }
  }
  /// Starts the copy of column J, if it exists, as one commit group.
  template <int J>
  __device__ __forceinline__ void fetch() {
    if constexpr (J < N) {
      // Unrolled little: code beyond the instruction cache costs half the speed.
      const E* p = top;
      E* to = &under_way(J, J);
#pragma unroll 2
      for (int i = J; i < N; ++i, p += rs, to += kColumnThreads) copy_async(to, p);
      top = walked(top + rs + cs);
    }
    commit_copies();
  }
  template <int J>
  __device__ __forceinline__ void take(gpu_lane::Tile<E, N, N>& t) const {
    asm volatile("cp.async.wait_group %0;" ::"n"(kColumnsAhead - 1) : "memory");
#pragma unroll
    for (int i = J; i < N; ++i) t.e[i][J] = under_way(i, J);
  }
  template <int J>
  __device__ __forceinline__ void store(const gpu_lane::Tile<E, N, N>& t) {
    E* p = bottom;
#pragma unroll
    for (int i = N - 1; i >= J; --i) {
      write_in_order(p, t.e[i][J]);
      p = walked(p - rs);
    }
    bottom = walked(bottom + cs);
  }
};

}  // namespace chol::cuda
