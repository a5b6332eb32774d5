// Distribution of a matrix's triangle over its threads in threads/solve.cuh and threads/factor.cuh,
// and the substitutions with it.
#pragma once

#include "interleaved/element_access.cuh"
#include "interleaved/kernels.hpp"
#include "interleaved/packed_triangles.cuh"

namespace chol::cuda {

/// x of that thread of the warp.
template <class R>
__device__ __forceinline__ gpu_lane::Vec<R> from_thread(gpu_lane::Vec<R> x, int thread) {
  return {from_lane(x.v, thread)};
}
template <class V>
__device__ __forceinline__ gpu_lane::ComplexLane<V> from_thread(gpu_lane::ComplexLane<V> x,
                                                                int thread) {
  return {from_thread(x.re, thread), from_thread(x.im, thread)};
}
template <class R>
__device__ __forceinline__ gpu_lane::Vec<R> sum(gpu_lane::Vec<R> a, gpu_lane::Vec<R> b) {
  return {a.v + b.v};
}
template <class V>
__device__ __forceinline__ gpu_lane::ComplexLane<V> sum(gpu_lane::ComplexLane<V> a,
                                                        gpu_lane::ComplexLane<V> b) {
  return {sum(a.re, b.re), sum(a.im, b.im)};
}

/// One thread's part of a triangle of order N - kThreads + 1 to N: rows own, own + kThreads, ...;
/// the last kHeld columns of them in registers. `q` counts the thread's rows, of which only the
/// last may not exist. Such a row, and elements on or above the diagonal where other threads have
/// elements below it, are zero: all threads execute the same code.
template <class E, int N, int kThreads, int kHeld>
struct RowsOfThread {
  using V = gpu_lane::RealLaneOf<E>;
  static constexpr int kMatrices = kWarpThreads / kThreads;
  static constexpr int kRows = N / kThreads;
  static constexpr int kShared = N - kHeld;                    ///< columns in shared memory
  static constexpr int kGroups = kShared < 4 ? kShared : 4;    ///< commit groups of those
  static constexpr int kFirstHeld = (kShared + 1) / kThreads;  ///< row with columns in registers
  static_assert(N % kThreads == 0 && kShared >= 1 && kHeld >= 1);

  E held[kRows - kFirstHeld][kHeld];
  E x[kRows];
  E* words;   ///< the thread's part of shared memory
  V* pivots;  ///< the same of diagonal elements, then of their reciprocals
  int own;    ///< of kThreads
  int left;   ///< rows of the matrix from the last multiple of kThreads on

  __device__ __forceinline__ RowsOfThread(char* shared, int thread, int n)
      : words(reinterpret_cast<E*>(shared) + thread),
        pivots(reinterpret_cast<V*>(shared +
                                    held_words(N, {kThreads, kHeld}) * kWarpThreads * sizeof(E)) +
               thread),
        own(thread / kMatrices),
        left(n - (N - kThreads)) {}

  __device__ __forceinline__ bool exists(int q) const {
    return kThreads == 1 || q + 1 < kRows || own < left;
  }
  /// x of the thread that has row `row` of each kThreads.
  template <class X>
  __device__ __forceinline__ static X of_row(X x, int row) {
    return from_thread(x, row * kMatrices + int(threadIdx.x) % kMatrices);
  }
  /// The thread's first row that may be below the diagonal in column j.
  __host__ __device__ static constexpr int first_below(int j) { return (j + 1) / kThreads; }
  __device__ __forceinline__ bool is_below(int q, int j) const {
    return (q > j / kThreads || own > j % kThreads) && exists(q);
  }
  __device__ __forceinline__ E& at_shared(int q, int j) const {
    return words[(held_column_offset(N, kThreads, j) + q - first_below(j)) * kWarpThreads];
  }
  __device__ __forceinline__ E element(int q, int j) const {
    return j < kShared ? at_shared(q, j) : held[q - kFirstHeld][j - kShared];
  }
  __device__ __forceinline__ V& pivot(int q) const { return pivots[q * kWarpThreads]; }

  /// Commit group of a column in shared memory, or of the pivots of columns in registers.
  __host__ __device__ static constexpr int group_of(int j) {
    return j < kShared ? j * kGroups / kShared : kGroups;
  }

  /// One thread a matrix reads every column from its pivot down. With several threads each would
  /// read its pivots by separate instructions with few active threads: their pivots are therefore
  /// copied first, as part of the first group.
  static constexpr bool kPivotsApart = kThreads > 1;
  __device__ __forceinline__ void fetch_pivots(const E* corner, int64_t down) const {
    const E* p = corner;
#pragma unroll
    for (int q = 0; q < kRows; ++q) {
      if (exists(q))
        copy_async(&pivot(q), reinterpret_cast<const V*>(p));
      else
        pivot(q) = V::broadcast(1);
      p = walked(p + kThreads * down);
    }
  }
  /// Starts the copies of the triangle.
  __device__ __forceinline__ void fetch(LaneMatrix<E> A) {
    if constexpr (kPivotsApart) fetch_pivots(&A.at(own, own), A.rs + A.cs);
    fetch_columns(&A.at(own, 0), A.rs, A.cs);
  }
  /// Column J and those after it. @param top element (own, J).
  template <int J = 0>
  __device__ __forceinline__ void fetch_columns(const E* top, int64_t rs, int64_t cs) {
    constexpr int kFirst = kPivotsApart ? first_below(J) : J;
    const E* p = walked(top + kFirst * kThreads * rs);
    if constexpr (!kPivotsApart) {
      copy_async(&pivot(J), reinterpret_cast<const V*>(p));
      p = walked(p + rs);
    }
#pragma unroll
    for (int q = first_below(J); q < kRows; ++q) {
      const bool always = kThreads == 1 || (q > J / kThreads && q + 1 < kRows);
      if constexpr (J < kShared) {
        if (always)
          copy_async(&at_shared(q, J), p);
        else
          copy_async_or_zero(&at_shared(q, J), p, is_below(q, J));
      } else {
        E& to = held[q - kFirstHeld][J - kShared];
        to = gpu_lane::zero_element<E>();
        if (always || is_below(q, J)) to = read_in_order(p);
      }
      p = walked(p + kThreads * rs);
    }
    if constexpr (J + 1 == N || group_of(J) != group_of(J + 1)) commit_copies();
    if constexpr (J + 1 < N) fetch_columns<J + 1>(walked(top + cs), rs, cs);
  }
  /// Waits for `kCount` columns from J on, if one of them starts a group.
  template <int J, int kCount>
  __device__ __forceinline__ static void wait_for_columns() {
    wait_for_column<J>();
    if constexpr (kCount > 1) wait_for_columns<J + 1, kCount - 1>();
  }
  /// Waits for the group that column J starts, if it starts one.
  template <int J>
  __device__ __forceinline__ static void wait_for_column() {
    if constexpr (J == 0 || group_of(J) != group_of(J - 1))
      asm volatile("cp.async.wait_group %0;" ::"n"(kGroups - group_of(J)) : "memory");
  }
  /// The reciprocal of pivot q; replaces the pivot if that comes from memory.
  __device__ __forceinline__ V inverted(int q, bool from_memory) const {
    const V there = pivot(q);
    const V reciprocal = choose(from_memory, gpu_lane::invert(there), there);
    pivot(q) = reciprocal;
    return reciprocal;
  }

  /// Loads column c of B to x.
  __device__ __forceinline__ void read(LaneMatrix<E> B, int64_t c, bool conjugated) {
    const E* from = &B.at(own, c);
#pragma unroll
    for (int q = 0; q < kRows; ++q, from = walked(from + kThreads * B.rs))
      x[q] = exists(q) ? conj_if(conjugated, read_in_order(from)) : gpu_lane::zero_element<E>();
  }
  __device__ __forceinline__ void write(LaneMatrix<E> B, int64_t c, bool conjugated,
                                        bool stores) const {
    E* to = &B.at(own + (kRows - 1) * kThreads, c);
#pragma unroll
    for (int q = kRows - 1; q >= 0; --q, to = walked(to - kThreads * B.rs))
      if (stores && exists(q)) write_in_order(to, conj_if(conjugated, x[q]));
  }

  /// x := inverse(L) x. @param from_memory whether the triangle is still being copied, as for the
  /// first right-hand side.
  __device__ __forceinline__ void forward(bool from_memory) {
    wait_for_column<0>();
    forward_from<0>(inverted(0, from_memory), from_memory);
  }
  /// Element J, and the update of the following ones. @param reciprocal of the pivot in the
  /// thread's row of J: the next one is computed during the work with this one.
  template <int J>
  __device__ __forceinline__ void forward_from(V reciprocal, bool from_memory) {
    constexpr int kOwner = J % kThreads, kRow = J / kThreads;
    E known = gpu_lane::scale(x[kRow], reciprocal);
    x[kRow] = choose(own == kOwner, known, x[kRow]);
    if constexpr (J + 1 < N) {
      if constexpr (kThreads > 1) known = of_row(known, kOwner);
      wait_for_column<J + 1>();
      if constexpr ((J + 1) % kThreads == 0) reciprocal = inverted(kRow + 1, from_memory);
#pragma unroll
      for (int q = first_below(J); q < kRows; ++q)
        x[q] = gpu_lane::subtract<false, false>(x[q], element(q, J), known);
      forward_from<J + 1>(reciprocal, from_memory);
    }
  }
  /// x := inverse(L^H) x, with reciprocals in place of pivots.
  __device__ __forceinline__ void backward() { backward_from<N - 1>(pivot(kRows - 1)); }
  /// From element J down: each thread sums the products of its rows with it.
  template <int J>
  __device__ __forceinline__ void backward_from(V reciprocal) {
    constexpr int kOwner = J % kThreads, kRow = J / kThreads;
    const V next = pivot(J > 0 ? (J - 1) / kThreads : kRow);
    E taken = kThreads == 1 ? x[J] : gpu_lane::zero_element<E>();
    constexpr int kFirst = J + 1 < N ? first_below(J) : kRows;
#pragma unroll
    for (int q = kRows - 1; q >= kFirst; --q)
      taken = gpu_lane::subtract<true, false>(taken, element(q, J), x[q]);
    if constexpr (kThreads > 1) {
#pragma unroll
      for (int apart = kMatrices; apart < kWarpThreads; apart *= 2)
        taken = sum(taken, from_thread(taken, int(threadIdx.x) ^ apart));
      taken = sum(x[kRow], taken);
    }
    x[kRow] = choose(own == kOwner, gpu_lane::scale(taken, reciprocal), x[kRow]);
    if constexpr (J > 0) backward_from<J - 1>(next);
  }
};

#ifndef __CUDACC_RTC__
template <class T, int N, int kThreads, int kHeld>
Status launch_held(void (*kernel)(InterleavedCall<T>), const InterleavedCall<T>& call,
                   cudaStream_t stream) {
  constexpr ThreadsShape kShape{kThreads, kHeld};
  constexpr auto kBytes = int(held_block_bytes(kPrecision<T>, N, kShape));
  constexpr int kMatrices = kShape.matrices();
  const auto blocks = static_cast<unsigned>((call.batch + kMatrices - 1) / kMatrices);
  return launch("interleaved, held columns", kernel, blocks, kWarpThreads, kBytes, stream, call);
}

/// The orders of a compile unit. @tparam Kernel its kKernel is built for an order and shape.
template <InterleavedTask kTask, int kPart, template <class, int, int, int> class Kernel, class T>
Status run_held(const InterleavedCall<T>& call, cudaStream_t stream) {
  constexpr int kFirst = kFirstThreadsOrder<kTask, T>;
  Status status;
  const auto launch = [&]<int kOrder>(gpu_lane::Count<kOrder>) {
    if constexpr (part_of_order<kTask, T>(kOrder) == kPart) {
      constexpr ThreadsShape kShape = kThreadsTable<kTask, T>.shape(kOrder);
      constexpr int N = kShape.order(kOrder), kThreads = kShape.threads, kHeld = kShape.columns;
      if (call.n == kOrder)
        status = launch_held<T, N, kThreads, kHeld>(Kernel<T, N, kThreads, kHeld>::kKernel, call,
                                                    stream);
    }
  };
  [&]<int... N>(std::integer_sequence<int, N...>) { (launch(gpu_lane::Count<kFirst + N>{}), ...); }
  (std::make_integer_sequence<int, kPanelOrder<kTask, T> - kFirst + 1>{});
  return status;
}
#endif

}  // namespace chol::cuda
