// Kernels of solves by inverted diagonal blocks (diagonal_blocks.hpp).
#pragma once

#include "native/solve/call.hpp"
#include "native/solve/substitution.cuh"

namespace chol::cuda::solve {

/// What blocks of threads do for one strip of rows of the factor's diagonal blocks: one inverts the
/// diagonal tile, and kParts of them each take some of the rows for the rest.
template <class T, bool swapped>
struct DiagonalStrip {
  using C = Config<T>;
  using Tiles = Tile<T, swapped, !swapped>;
  static constexpr int kOrder = C::kOrder, kThreads = C::kThreads, kWarps = kThreads / 32;
  static constexpr int kParts = 4, kRows = kOrder / kParts;
  static constexpr int kSharedBytes = C::kTile * int(sizeof(T));

  Factor<T> factor;
  Inverses<T> inverses;
  int strip, part, thread;

  /// Inverts the diagonal tile.
  __device__ void invert(T* tile) const {
    Tiles::read_diagonal(tile, factor, strip, thread);
    __syncthreads();
    Tiles::invert(tile, thread);
    T* const to = inverses.first + int64_t(strip) * kOrder * (inverses.order + 1);
    for (int e = thread; e < kOrder * kOrder; e += kThreads) {
      const int line = e / kOrder, position = e % kOrder;
      to[line * inverses.order + position] = tile[line * Tiles::kPitch + position];
    }
  }
  /// Zeros above the diagonal tile, and the sums of the rows of |L|.
  /// @param partial kThreads elements
  __device__ void prepare(Real<T>* partial) const {
    const int strips = (factor.n + kOrder - 1) / kOrder;
    const int first = (strip + 1) * kOrder,
              end = smaller(first_of_block() + order(), strips * kOrder);
    const int columns = end - first;
    for (int e = thread; e < kRows * columns; e += kThreads) {
      const int i = first_row() + (swapped ? e / columns : e % kRows);
      const int j = first + (swapped ? e % columns : e / kRows);
      inverses.first[offset(i, j, inverses.order)] = T{};
    }
    if (!inverses.sums) return;
    if (thread == 0 && first_of_block() == first_row()) inverses.substitutes[block()] = 0;
    for_rows(
        factor.A, factor.ld, partial, [](int) { return Real<T>(1); },
        [&](int i, Real<T> sum) { inverses.sums[i] = sum; });
  }
  /// Whether products with these rows of the block's inverse are not accurate.
  __device__ void test(Real<T>* partial) const {
    bool accurate = true;
    for_rows(
        inverses.first, inverses.order, partial, [&](int j) { return inverses.sums[j]; },
        [&](int, Real<T> condition) { accurate = accurate && condition <= kMostCondition; });
    if (__syncthreads_or(!accurate) && thread == 0) inverses.substitutes[block()] = 1;
  }

 private:
  __device__ __forceinline__ int order() const { return static_cast<int>(inverses.order); }
  __device__ __forceinline__ int block() const { return strip * kOrder / order(); }
  __device__ __forceinline__ int first_of_block() const { return block() * order(); }
  __device__ __forceinline__ int first_row() const { return strip * kOrder + part * kRows; }
  __device__ static __forceinline__ int64_t offset(int i, int j, int64_t ld) {
    return swapped ? i * ld + j : j * ld + i;
  }
  /// Calls body(i, the sum of |A(i, j)| weight(j) over the columns j <= i of the block).
  template <class Weight, class Body>
  __device__ __forceinline__ void for_rows(const T* A, int64_t ld, Real<T>* partial,
                                           Weight&& weight, Body&& body) const {
    const int first = first_row(), rows = smaller(kRows, factor.n - first);
    const auto add_to = [&](Real<T> sum, int i, int j) {
      return fma(absolute_sum(A[offset(i, j, ld)]), weight(j), sum);
    };
    if constexpr (swapped) {
      for (int row = thread / 32; row < rows; row += kWarps) {
        Real<T> sum = 0;
#pragma unroll 4
        for (int j = first_of_block() + thread % 32; j <= first + row; j += 32)
          sum = add_to(sum, first + row, j);
        sum = sum_lanes<32>(sum);
        if (thread % 32 == 0) body(first + row, sum);
      }
    } else {
      constexpr int kSums = kThreads / kRows;  // of a row
      const int row = thread % kRows, share = thread / kRows;
      Real<T> sum = 0;
      if (row < rows) {
#pragma unroll 8
        for (int j = first_of_block() + share; j <= first + row; j += kSums)
          sum = add_to(sum, first + row, j);
      }
      partial[thread] = sum;
      __syncthreads();
      if (thread >= rows) return;
#pragma unroll
      for (int k = 1; k < kSums; ++k) sum += partial[thread + kRows * k];
      body(first + row, sum);
    }
  }
};

/// Solves with one diagonal block for some right-hand sides, whose products with its inverse are
/// given: copies these, or substitutes.
template <class T, bool swapped, bool kForward>
struct DiagonalSolve {
  using C = Config<T>;
  using Tiles = Tile<T, swapped, kForward != swapped>;
  static constexpr int kOrder = C::kOrder, kThreads = C::kThreads, kColumns = 8;
  static constexpr int kPitch = kVectorPitch<T, kColumns>, kVector = kOrder * kPitch;
  static constexpr int kSharedBytes = (C::kTile + 2 * kVector) * int(sizeof(T));
  static_assert(kSharedBytes <= 48 * 1024);  // more needs a call of the runtime before each launch
  /// Swapped storage is that of the conjugate factor.
  static constexpr bool kConjugated = kForward == swapped;

  DiagonalCall<T> call;
  int64_t first;  ///< right-hand side
  int columns;
  int thread;

  __device__ DiagonalSolve(const DiagonalCall<T>& call_, int64_t group, int thread_)
      : call(call_),
        first(group * kColumns),
        columns(static_cast<int>(smaller<int64_t>(kColumns, call_.nrhs - group * kColumns))),
        thread(thread_) {}

  /// @param part of the rows
  /// @return false, without a change, where products with the inverse are not accurate
  __device__ bool copy(int part, int parts) const {
    const int n = call.factor.n;
    for (int i = part * kThreads + thread; i < n; i += parts * kThreads) {
      T x[kColumns];
#pragma unroll
      for (int q = 0; q < kColumns; ++q)
        if (q < columns) x[q] = call.product[(first + q) * n + i];
      if (*call.substitutes != 0) return false;  // read at the same time
#pragma unroll
      for (int q = 0; q < kColumns; ++q)
        if (q < columns) *B(i, q) = x[q];
    }
    return *call.substitutes == 0;
  }
  __device__ void substitute(T* tile) const {
    T *const rhs = tile + C::kTile, *const solved = rhs + kVector;
    const int strips = (call.factor.n + kOrder - 1) / kOrder;
    for (int k = 0; k < strips; ++k) {
      const int strip = kForward ? k : strips - 1 - k;
      T sum[kColumns] = {};
#pragma unroll 1
      for (int l = 0; l < k; ++l) {
        const int other = kForward ? l : strips - 1 - l;
        Tiles::copy(tile, call.factor, kForward ? strip : other, kForward ? other : strip, thread);
        close_copy_group();
        read(solved, other);
        wait_for_copy_groups<0>();
        __syncthreads();
        Tiles::template subtract_product_of<kConjugated>(sum, Tiles::row_of(tile, thread), solved,
                                                         thread);
        __syncthreads();
      }
      Tiles::read_diagonal(tile, call.factor, strip, thread);
      read(rhs, strip);
      __syncthreads();
#pragma unroll
      for (int q = 0; q < kColumns; ++q) {
        T& its = rhs[thread / kShares * kPitch + q];
        const T total = sum_lanes<kShares>(sum[q]);
        if (q % kShares == thread % kShares) its = add(its, total);
      }
      __syncthreads();
      Substitution<T, Tiles>::template solve<!kForward, kConjugated, kColumns>(tile, rhs, thread);
      __syncthreads();
      for_elements(strip, [&](int i, int q, int at) { *B(i, q) = rhs[at]; });
      __syncthreads();
    }
  }

 private:
  __device__ __forceinline__ T* B(int i, int q) const {
    return call.B + (first + q) * call.ldb + i;
  }
  /// Calls body(row, right-hand side, its place in shared memory).
  template <class Body>
  __device__ __forceinline__ void for_elements(int strip, Body&& body) const {
    for (int e = thread; e < kOrder * columns; e += kThreads) {
      const int row = e % kOrder, i = strip * kOrder + row;
      if (i < call.factor.n) body(i, e / kOrder, row * kPitch + e / kOrder);
    }
  }
  __device__ __forceinline__ void read(T* to, int strip) const {
    for (int e = thread; e < kVector; e += kThreads) to[e] = T{};
    __syncthreads();
    for_elements(strip, [&](int i, int q, int at) { to[at] = *B(i, q); });
  }
};

}  // namespace chol::cuda::solve
