// Rank-revealing factorization of the cores of generalized Nystrom approximations (Nakatsukasa
// 2020): QR with column pivoting by modified Gram-Schmidt. A core is assigned to one block or to
// the blocks of a cluster, which own every kBlocks-th column each.
#pragma once

#include <cooperative_groups.h>

#include <cmath>

#include "common/scalar.cuh"
#include "tlr/descriptors.hpp"
#include "tlr/panel.cuh"

namespace chol::cuda::tlr {

inline constexpr int kCoreThreads = 512;
inline constexpr int kCoreWarps = kCoreThreads / 32;
inline constexpr int kCoreClusterBlocks = 8;
/// Number of remaining columns that must confirm that the rank is sufficient.
inline constexpr int kCoreTests = 4;

/// The value of a norm in comparisons: NaN is replaced.
template <class R>
__device__ __forceinline__ R countable(R norm) {
  return norm <= largest(norm) ? norm : R(INFINITY);
}

/// The expected error in all directions divided by the norm of a remaining column.
__device__ inline double error_over_column(int rows, int rank) {
  const double left = rows - rank;
  return sqrt((rows - 1.0) / (left * (left > 2 ? left - 1 : 1)));
}

/// Allocates an array in the shared memory at `start`; with nullptr, sizes are only added up.
template <class E>
__host__ __device__ void carve(char* start, size_t& used, E*& array, int count) {
  array = start ? reinterpret_cast<E*>(start + used) : nullptr;
  used += (sizeof(E) * count + 15) / 16 * 16;
}

/// The thread blocks of one cluster that work on a core.
template <int kBlocks>
struct BlocksOfCore {
  __device__ static void synchronize() {
    if constexpr (kBlocks > 1)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }
  template <class E>
  __device__ static E* of_block(E* address, int which) {
    if constexpr (kBlocks > 1)
      return cooperative_groups::this_cluster().map_shared_rank(address, which);
    else
      return address;
  }
};

/// Shared memory of a block. The layout is the same in all blocks of a cluster.
template <class T>
struct CoreMemory {
  using R = Real<T>;
  struct Candidate {
    R norm, first, rest;
    int column;
  };
  R *norms, *first;  ///< squared norms, current (-1 after selection) and initial
  R* warps;
  Candidate* candidates;
  T *pivot_column[2], *q, *partial, *coefficients, *columns;
  int* pivots;

  /// Assigns memory at `start`, or only counts if it is nullptr. Returns the number of bytes.
  __host__ __device__ size_t lay_out(char* start, int rows, int all_columns, int own_columns,
                                     bool holds_columns) {
    size_t used = 0;
    const int held = holds_columns ? rows * own_columns : 0;
    carve(start, used, columns, held);
    carve(start, used, pivot_column[0], rows);
    carve(start, used, pivot_column[1], rows);
    carve(start, used, q, rows);
    carve(start, used, partial, rows);
    carve(start, used, coefficients, own_columns);
    carve(start, used, norms, own_columns);
    carve(start, used, first, own_columns);
    carve(start, used, warps, kCoreWarps);
    carve(start, used, candidates, 2);
    carve(start, used, pivots, all_columns);
    return used;
  }
  static size_t bytes(int rows, int all_columns, int own_columns, bool holds_columns) {
    return CoreMemory().lay_out(nullptr, rows, all_columns, own_columns, holds_columns);
  }
};

/// Factorization of one core by the blocks of a cluster.
template <class T, int kBlocks>
struct CoreFactorization : BlocksOfCore<kBlocks> {
  using BlocksOfCore<kBlocks>::synchronize;
  using BlocksOfCore<kBlocks>::of_block;
  using R = Real<T>;
  CoreItem item;
  CoreMemory<T> memory;
  int rows, columns, own_columns, block, thread, warp, lane;
  int candidates;  ///< number of leading columns that may be pivots
  int rest_from;   ///< first of the columns that count as the rest: see longest()
  bool holds_columns;
  T *S, *factor;

  __device__ CoreFactorization(const CoreItem& given, char* shared)
      : item(given),
        rows(given.rows),
        columns(given.columns),
        candidates(given.columns),
        rest_from(given.columns) {
    block = kBlocks > 1 ? static_cast<int>(blockIdx.x % kBlocks) : 0;
    thread = static_cast<int>(threadIdx.x);
    warp = thread / 32;
    lane = thread % 32;
    // The same number in each block, so that the layouts agree.
    own_columns = (columns + kBlocks - 1) / kBlocks;
    holds_columns = given.in_shared;
    memory.lay_out(shared, rows, columns, own_columns, holds_columns);
    S = holds_columns ? memory.columns : static_cast<T*>(item.work);
    factor = static_cast<T*>(item.R);
  }

  __device__ int global_of(int own) const { return own * kBlocks + block; }
  __device__ bool is_column(int own) const { return global_of(own) < columns; }
  /// Column c of S, in the shared memory of its block or in device memory.
  __device__ T* column(int c) const {
    if (!holds_columns) return S + static_cast<size_t>(c) * rows;
    return of_block(S + static_cast<size_t>(c / kBlocks) * rows, c % kBlocks);
  }
  __device__ T* own_column(int own) const {
    return S + static_cast<size_t>(holds_columns ? own : global_of(own)) * rows;
  }

  __device__ T inner(const T* x, const T* y) const {
    T sum = from_real<T>(0);
    for (int i = lane; i < rows; i += 32) sum = add_product_conj(sum, y[i], x[i]);
    return sum_lanes<32>(sum);
  }

  __device__ void load() {
    const T* const given = static_cast<const T*>(item.S);
    for (int own = warp; own < own_columns && is_column(own); own += kCoreWarps) {
      T* const y = own_column(own);
      R sum = 0;
      for (int i = lane; i < rows; i += 32) {
        y[i] = given[static_cast<size_t>(global_of(own)) * rows + i];
        sum += squared(y[i]);
      }
      sum = sum_lanes<32>(sum);
      if (lane == 0) memory.norms[own] = memory.first[own] = countable(sum);
    }
    __syncthreads();
  }

  /// Returns the longest candidate of the cluster to every thread, and the sum of the squared norms
  /// of the unselected columns from rest_from on.
  __device__ typename CoreMemory<T>::Candidate longest(int step) {
    typename CoreMemory<T>::Candidate best{R(-1), R(0), R(0), 0};
    if (warp == 0) {
      R rest = 0;
      for (int own = lane; own < own_columns && is_column(own); own += 32) {
        const R norm = memory.norms[own];
        const int column = global_of(own);
        if (column >= rest_from && norm > R(0)) rest += norm;
        if (column < candidates && norm > best.norm) best = {norm, memory.first[own], R(0), column};
      }
      for (int distance = 16; distance > 0; distance /= 2) {
        const R norm = __shfl_xor_sync(kFullWarp, best.norm, distance);
        const R first = __shfl_xor_sync(kFullWarp, best.first, distance);
        const int at = __shfl_xor_sync(kFullWarp, best.column, distance);
        if (norm > best.norm || (norm == best.norm && at < best.column))
          best = {norm, first, R(0), at};
      }
      if (rest_from < columns) best.rest = sum_lanes<32>(rest);
      if (lane == 0) memory.candidates[step % 2] = best;
    }
    synchronize();
    best = *of_block(memory.candidates + step % 2, 0);
    R rest = best.rest;
    for (int other = 1; other < kBlocks; ++other) {
      const auto its = *of_block(memory.candidates + step % 2, other);
      rest += its.rest;
      if (its.norm > best.norm || (its.norm == best.norm && its.column < best.column)) best = its;
    }
    best.rest = rest;
    return best;
  }

  /// Orthogonalizes column p against the `rank` pivot columns a second time. Returns its squared
  /// norm in the block that owns it.
  __device__ R repeat_orthogonalization(int p, int rank) {
    const T* const y = column(p);
    for (int i = thread; i < rows; i += kCoreThreads) memory.q[i] = y[i];
    __syncthreads();
    for (int l = warp; l < rank; l += kCoreWarps) {
      const int c = memory.pivots[l];
      if (c % kBlocks != block) continue;
      const T coefficient = inner(own_column(c / kBlocks), memory.q);
      if (lane != 0) continue;
      memory.coefficients[c / kBlocks] = coefficient;
      T& r = factor[static_cast<size_t>(p) * columns + l];
      r = add(r, coefficient);
    }
    __syncthreads();
    for (int i = thread; i < rows; i += kCoreThreads) {
      T sum = from_real<T>(0);
      for (int l = 0; l < rank; ++l) {
        const int c = memory.pivots[l];
        if (c % kBlocks == block)
          sum = subtract_product(sum, own_column(c / kBlocks)[i], memory.coefficients[c / kBlocks]);
      }
      memory.partial[i] = sum;
    }
    synchronize();
    R sum = 0;
    if (p % kBlocks == block) {
      T* const x = own_column(p / kBlocks);
      for (int i = thread; i < rows; i += kCoreThreads) {
        T value = x[i];
        for (int other = 0; other < kBlocks; ++other)
          value = add(value, of_block(memory.partial, other)[i]);
        x[i] = value;
        sum += squared(value);
      }
    }
    sum = sum_lanes<32>(sum);
    if (lane == 0) memory.warps[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < kCoreWarps; ++w) sum += memory.warps[w];
    return sum;
  }

  /// Column p becomes vector `rank` of the basis, and is copied to memory.q of every block.
  __device__ void pick(int p, R square, int rank) {
    T* const to = memory.pivot_column[rank % 2];
    if (p % kBlocks == block) {
      const R norm = sqrt(square);
      T* const x = own_column(p / kBlocks);
      for (int i = thread; i < rows; i += kCoreThreads) {
        const T value = norm > R(0) ? scale(x[i], R(1) / norm) : from_real<T>(0);
        x[i] = value;
        to[i] = value;
      }
      if (thread == 0) {
        memory.norms[p / kBlocks] = R(-1);
        factor[static_cast<size_t>(p) * columns + rank] =
            from_real<T>(norm > R(0) ? norm : largest(R(0)));
      }
    }
    if (thread == 0) memory.pivots[rank] = p;
    synchronize();
    const T* const from = of_block(to, p % kBlocks);
    for (int i = thread; i < rows; i += kCoreThreads) memory.q[i] = from[i];
    __syncthreads();
  }

  /// Subtracts from the other columns their components along vector `rank` of the basis. A warp
  /// processes kTogether columns at a time to overlap latencies.
  __device__ void update(int rank) {
    constexpr int kTogether = 4;
    for (int own = warp; own < own_columns; own += kCoreWarps * kTogether) {
      T* y[kTogether];
      T coefficient[kTogether];
      R rest[kTogether];
      bool is_left[kTogether];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        const int at = own + u * kCoreWarps;
        is_left[u] = at < own_columns && is_column(at) && memory.norms[at] >= 0;
        y[u] = own_column(is_left[u] ? at : 0);
        coefficient[u] = from_real<T>(0);
        rest[u] = 0;
      }
      for (int i = lane; i < rows; i += 32) {
        const T x = memory.q[i];
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
          if (is_left[u]) coefficient[u] = add_product_conj(coefficient[u], y[u][i], x);
      }
#pragma unroll
      for (int u = 0; u < kTogether; ++u) coefficient[u] = sum_lanes<32>(coefficient[u]);
      for (int i = lane; i < rows; i += 32) {
        const T x = memory.q[i];
#pragma unroll
        for (int u = 0; u < kTogether; ++u) {
          if (!is_left[u]) continue;
          const T left = subtract_product(y[u][i], x, coefficient[u]);
          y[u][i] = left;
          rest[u] += squared(left);
        }
      }
      __syncwarp();  // all lanes have read the norms
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        rest[u] = sum_lanes<32>(rest[u]);
        const int at = own + u * kCoreWarps;
        if (lane != 0 || !is_left[u]) continue;
        memory.norms[at] = countable(rest[u]);
        factor[static_cast<size_t>(global_of(at)) * columns + rank] = coefficient[u];
      }
    }
    __syncthreads();
  }

  /// Estimates the Frobenius norm of the residual from the mean of the remaining columns, and the
  /// ratio of its largest singular value to it: at most the fourth root of
  /// sum |S_c^H S_d|^2 / (sum |S_c|^2)^2, from which the expectation for random columns is
  /// subtracted.
  __device__ void measure(int rank, CoreResult* result) {
    double squares = 0, total = 0;
    for (int c = 0; c < columns; ++c) {
      if (*of_block(memory.norms + c / kBlocks, c % kBlocks) < 0) continue;
      total += *of_block(memory.norms + c / kBlocks, c % kBlocks);
      for (int d = warp; d < columns; d += kCoreWarps)
        if (*of_block(memory.norms + d / kBlocks, d % kBlocks) >= 0)
          squares += double(squared(inner(column(c), column(d))));
    }
    if (!(total > 0) || !(total < 1e300)) return;
    if (lane == 0) memory.warps[warp] = static_cast<R>(squares / (total * total));
    __syncthreads();
    double share = 0;
    for (int w = 0; w < kCoreWarps; ++w) share += double(memory.warps[w]);
    const double m = rows - rank, n = columns - rank, random = (m + n) / (m * n);
    share = random < 1 && share > random ? (share - random) / (1 - random) : 0;
    result->error = static_cast<float>(sqrt(total / n) * error_over_column(rows, rank));
    result->spike = static_cast<float>(sqrt(sqrt(share)));
  }
  /// Writes columns of Q.
  __device__ void write_basis(int rank) {
    T* const Q = static_cast<T*>(item.Q);
    for (int c = warp * kBlocks + block; c < rank; c += kCoreWarps * kBlocks) {
      const T* const vector = column(memory.pivots[c]);
      for (int i = lane; i < rows; i += 32) Q[static_cast<size_t>(c) * rows + i] = vector[i];
    }
  }
  /// Computes columns of P inverse(R) by backward substitution on the lanes of a warp.
  __device__ void write_inverse(int rank) {
    T* const inverse = static_cast<T*>(item.T);
    T* const right_sides = static_cast<T*>(item.work) + static_cast<size_t>(rows) * columns;
    for (int c = warp * kBlocks + block; c < rank; c += kCoreWarps * kBlocks) {
      T* const x = inverse + static_cast<size_t>(c) * columns;
      T* const right = right_sides + static_cast<size_t>(c) * columns;
      for (int i = lane; i < columns; i += 32) x[i] = from_real<T>(0);
      for (int i = lane; i <= c; i += 32) right[i] = from_real<T>(i == c ? R(1) : R(0));
      __syncwarp();
      for (int i = c; i >= 0; --i) {
        const int p = memory.pivots[i];
        const T* const r = factor + static_cast<size_t>(p) * columns;
        const T value = scale(right[i], R(1) / real(r[i]));
        if (lane == 0) x[p] = value;
        for (int j = lane; j < i; j += 32) right[j] = subtract_product(right[j], r[j], value);
        __syncwarp();
      }
    }
  }

  /// Column `best` becomes vector `rank` of the basis. Its components are subtracted from the
  /// others.
  __device__ void take(const typename CoreMemory<T>::Candidate& best, int rank) {
    // The largest loss of orthogonality that is accepted after one pass.
    constexpr R kKept = sizeof(R) == 8 ? R(1e-4) : R(1e-1);
    R square = best.norm;
    if (rank > 0 && best.norm < kKept * best.first)
      square = repeat_orthogonalization(best.column, rank);
    pick(best.column, square, rank);
    update(rank);
  }

  __device__ CoreResult run(double tolerance, bool wants_errors) {
    load();
    int rank = 0;
    bool is_sufficient = false;
    for (const int most = columns - kCoreTests;; ++rank) {
      const auto best = longest(rank);
      is_sufficient =
          sqrt(double(best.norm > 0 ? best.norm : R(0))) * error_over_column(rows, rank) <=
          tolerance;
      if (is_sufficient || rank >= most || !(best.norm <= largest(R(0)))) break;
      take(best, rank);
    }
    synchronize();
    CoreResult result{rank, is_sufficient, 0, 0};
    if (wants_errors) measure(rank, &result);
    write_inverse(rank);
    write_basis(rank);
    synchronize();  // no block exits while other blocks read its shared memory
    return result;
  }
};

}  // namespace chol::cuda::tlr
