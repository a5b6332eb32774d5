// The factorization of core.cuh with the columns in registers: a group of kGroup lanes holds a
// column, so that a step of modified Gram-Schmidt reads the picked column from shared memory and
// nothing else. Every warp proposes its longest column before a barrier and all choose among them
// after it: a step takes one barrier.
#pragma once

#include "tlr/core.cuh"

namespace chol::cuda::tlr {

/// @tparam kGroup_ lanes that hold a column
/// @tparam kRows_ elements of it that each of them holds
/// @tparam kColumns_ columns of a group
template <class T, int kGroup_, int kRows_, int kColumns_, int kWarps_, int kBlocks_>
struct HeldShape {
  using Type = T;
  static constexpr int kGroup = kGroup_, kGroups = 32 / kGroup;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kWarps = kWarps_, kBlocks = kBlocks_;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kMostRows = kGroup * kRows;
  static constexpr int kOfWarp = kGroups * kColumns;
  static constexpr int kMostColumns = kOfWarp * kWarps * kBlocks;
  static constexpr int kParts = kWarps * kBlocks;
};

/// Cores up to these orders. Elements of 16 bytes take twice the registers.
template <class T, bool is_wide = sizeof(T) == 16>
struct CoreShapes {
  using Small = HeldShape<T, 8, 8, 2, 8, 1>;
  using Middle = HeldShape<T, 16, 8, 4, 16, 1>;
  using Large = HeldShape<T, 32, 12, 4, 12, 8>;
};
template <class T>
struct CoreShapes<T, true> {
  using Small = HeldShape<T, 8, 8, 2, 8, 1>;
  using Middle = Small;
  using Large = HeldShape<T, 32, 8, 2, 16, 8>;
};

template <class Shape>
struct HeldMemory {
  using T = typename Shape::Type;
  using R = Real<T>;
  struct Candidate {
    R norm, first;
    int column;
  };
  /// Of two steps, since a warp may write those of the next while others read.
  Candidate candidates[2][Shape::kWarps];
  T proposed[2][Shape::kWarps][Shape::kMostRows];
  T partial[Shape::kWarps][Shape::kMostRows], of_block[Shape::kMostRows], of_all[Shape::kMostRows];
  T chosen[Shape::kMostRows];
  R reciprocals[Shape::kMostColumns];  ///< of the diagonal of R
  int pivots[Shape::kMostColumns];
};

template <class Shape>
struct HeldFactorization {
  using T = typename Shape::Type;
  using R = Real<T>;
  using Memory = HeldMemory<Shape>;
  using Candidate = typename Memory::Candidate;
  static constexpr int kRows = Shape::kRows, kColumns = Shape::kColumns;
  static constexpr int kGroup = Shape::kGroup, kGroups = Shape::kGroups;

  CoreItem item;
  Memory& memory;
  int rows, columns, block, thread, warp, lane, group, place;
  T x[kColumns][kRows];
  R norms[kColumns], first[kColumns];  ///< squared, now (-1 once picked) and as given
  int order[kColumns];                 ///< of those that are picked
  T* factor;

  __device__ HeldFactorization(const CoreItem& given, Memory& shared)
      : item(given), memory(shared), rows(given.rows), columns(given.columns) {
    block = 0;
    if constexpr (Shape::kBlocks > 1)
      block = static_cast<int>(cooperative_groups::this_cluster().block_rank());
    thread = static_cast<int>(threadIdx.x);
    warp = thread / 32;
    lane = thread % 32;
    group = lane / kGroup;
    place = lane % kGroup;
    factor = static_cast<T*>(given.R);
  }

  __device__ static void synchronize() {
    if constexpr (Shape::kBlocks > 1)
      cooperative_groups::this_cluster().sync();
    else
      __syncthreads();
  }
  template <class E>
  __device__ static E* of_block(E* address, int which) {
    if constexpr (Shape::kBlocks > 1)
      return cooperative_groups::this_cluster().map_shared_rank(address, which);
    else
      return address;
  }
  /// Columns are distributed cyclically, so that all warps of all blocks have work to the end.
  __device__ int column_of(int c) const {
    return ((c * kGroups + group) * Shape::kWarps + warp) * Shape::kBlocks + block;
  }
  __device__ static int block_of(int column) { return column % Shape::kBlocks; }
  __device__ static int warp_of(int column) { return column / Shape::kBlocks % Shape::kWarps; }
  __device__ bool is_own(int c, int column) const { return column_of(c) == column; }

  __device__ void load() {
    const T* const S = static_cast<const T*>(item.S);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      const int column = column_of(c);
      R sum = 0;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const int i = place + kGroup * r;
        x[c][r] = column < columns && i < rows ? S[static_cast<size_t>(column) * rows + i]
                                               : from_real<T>(0);
        sum += squared(x[c][r]);
      }
      sum = sum_lanes<kGroup>(sum);
      norms[c] = first[c] = column < columns ? countable(sum) : R(-1);
      order[c] = 0;
    }
  }

  /// The longest column of the warp goes to shared memory.
  __device__ void propose(int step) {
    Candidate best{norms[0], first[0], column_of(0)};
#pragma unroll
    for (int c = 1; c < kColumns; ++c)
      if (norms[c] > best.norm) best = {norms[c], first[c], column_of(c)};
    for (int distance = 16; distance >= kGroup; distance /= 2) {
      const R norm = __shfl_xor_sync(kFullWarp, best.norm, distance);
      const R given = __shfl_xor_sync(kFullWarp, best.first, distance);
      const int at = __shfl_xor_sync(kFullWarp, best.column, distance);
      if (norm > best.norm || (norm == best.norm && at < best.column)) best = {norm, given, at};
    }
    if (lane == 0) memory.candidates[step % 2][warp] = best;
    publish(best.column, memory.proposed[step % 2][warp]);
  }
  __device__ void publish(int column, T* to) const {
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      if (!is_own(c, column)) continue;
#pragma unroll
      for (int r = 0; r < kRows; ++r) to[place + kGroup * r] = x[c][r];
    }
  }

  /// The longest column of all, for every thread.
  __device__ Candidate choose(int step) const {
    Candidate best{R(-1), R(0), 0};
    for (int p = lane; p < Shape::kParts; p += 32) {
      const Candidate its =
          *of_block(&memory.candidates[step % 2][p % Shape::kWarps], p / Shape::kWarps);
      if (its.norm > best.norm || (its.norm == best.norm && its.column < best.column)) best = its;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const R norm = __shfl_xor_sync(kFullWarp, best.norm, distance);
      const R given = __shfl_xor_sync(kFullWarp, best.first, distance);
      const int at = __shfl_xor_sync(kFullWarp, best.column, distance);
      if (norm > best.norm || (norm == best.norm && at < best.column)) best = {norm, given, at};
    }
    return best;
  }

  /// The chosen column: to the block once, if it is another's.
  __device__ void fetch(int step, int column, T (&q)[kRows]) {
    const T* from = &memory.proposed[step % 2][warp_of(column)][0];
    if constexpr (Shape::kBlocks > 1) {
      const T* const remote =
          of_block(&memory.proposed[step % 2][warp_of(column)][0], block_of(column));
      for (int i = thread; i < Shape::kMostRows; i += Shape::kThreads) memory.chosen[i] = remote[i];
      __syncthreads();
      from = memory.chosen;
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) q[r] = from[place + kGroup * r];
  }

  __device__ static T dot(const T (&a)[kRows], const T (&b)[kRows]) {
    T sum = from_real<T>(0);
#pragma unroll
    for (int r = 0; r < kRows; ++r) sum = add_product_conj(sum, b[r], a[r]);
    return sum_lanes<kGroup>(sum);
  }

  /// Orthogonalizes q, column p as it was chosen, against the columns that are picked once more.
  __device__ void repeat_orthogonalization(int p, T (&q)[kRows]) {
    T part[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) part[r] = from_real<T>(0);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      T coefficient = dot(x[c], q);
      const bool is_picked = column_of(c) < columns && norms[c] < R(0);
      if (!is_picked) coefficient = from_real<T>(0);
#pragma unroll
      for (int r = 0; r < kRows; ++r) part[r] = subtract_product(part[r], x[c][r], coefficient);
      if (is_picked && place == 0) {
        T& to = factor[static_cast<size_t>(p) * columns + order[c]];
        to = add(to, coefficient);
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      part[r] = sum_lanes<32, kGroup>(part[r]);
      if (group == 0) memory.partial[warp][place + kGroup * r] = part[r];
    }
    __syncthreads();
    for (int i = thread; i < Shape::kMostRows; i += Shape::kThreads) {
      T sum = memory.partial[0][i];
      for (int w = 1; w < Shape::kWarps; ++w) sum = add(sum, memory.partial[w][i]);
      memory.of_block[i] = sum;
    }
    synchronize();
    if constexpr (Shape::kBlocks > 1) {
      for (int i = thread; i < Shape::kMostRows; i += Shape::kThreads) {
        T sum = of_block(memory.of_block, 0)[i];
        for (int b = 1; b < Shape::kBlocks; ++b) sum = add(sum, of_block(memory.of_block, b)[i]);
        memory.of_all[i] = sum;
      }
      __syncthreads();
    }
    const T* const sums = Shape::kBlocks > 1 ? memory.of_all : memory.of_block;
#pragma unroll
    for (int r = 0; r < kRows; ++r) q[r] = add(q[r], sums[place + kGroup * r]);
  }

  /// Column p, which q is, becomes vector `rank` of the basis and leaves the others.
  __device__ void pick(int p, int rank, T (&q)[kRows]) {
    R square = 0;
#pragma unroll
    for (int r = 0; r < kRows; ++r) square += squared(q[r]);
    const R norm = sqrt(sum_lanes<kGroup>(square));
    const R reciprocal = norm > R(0) ? R(1) / norm : R(0);
#pragma unroll
    for (int r = 0; r < kRows; ++r) q[r] = scale(q[r], reciprocal);
    if (thread == 0) {
      memory.pivots[rank] = p;
      memory.reciprocals[rank] = reciprocal;
    }
    R rest[kColumns];
    T coefficient[kColumns];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) coefficient[c] = dot(q, x[c]);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      rest[c] = 0;
      const int column = column_of(c);
      if (column == p) {
        norms[c] = R(-1);
        order[c] = rank;
#pragma unroll
        for (int r = 0; r < kRows; ++r) x[c][r] = q[r];
      } else if (norms[c] >= R(0)) {
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
          x[c][r] = subtract_product(x[c][r], q[r], coefficient[c]);
          rest[c] += squared(x[c][r]);
        }
        if (place == 0) factor[static_cast<size_t>(column) * columns + rank] = coefficient[c];
      }
    }
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      rest[c] = sum_lanes<kGroup>(rest[c]);
      if (norms[c] >= R(0)) norms[c] = countable(rest[c]);
    }
  }

  __device__ void write_basis() const {
    T* const Q = static_cast<T*>(item.Q);
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      if (column_of(c) >= columns || norms[c] >= R(0)) continue;
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (place + kGroup * r < rows)
          Q[static_cast<size_t>(order[c]) * rows + place + kGroup * r] = x[c][r];
    }
  }

  /// P inverse(R), two columns a warp at a time: backward substitution with the right-hand sides in
  /// registers and the next column of R on its way.
  __device__ void write_inverse(int rank) const {
    constexpr int kPieces = (Shape::kMostColumns + 31) / 32, kTogether = 2;
    T* const inverse = static_cast<T*>(item.T);
    const int part = block * Shape::kWarps + warp;
    for (int last = kTogether * part + kTogether - 1; last - kTogether + 1 < rank;
         last += kTogether * Shape::kParts) {
      T right[kTogether][kPieces], column[kPieces], next[kPieces];
#pragma unroll
      for (int u = 0; u < kTogether; ++u) {
        const int c = last - u;
#pragma unroll
        for (int m = 0; m < kPieces; ++m)
          right[u][m] = from_real<T>(lane + 32 * m == c ? R(1) : R(0));
        if (c < rank)
          for (int i = lane; i < columns; i += 32)
            inverse[static_cast<size_t>(c) * columns + i] = from_real<T>(0);
      }
      __syncwarp();
      const int top = smaller(last, rank - 1);
      const auto fetch = [&](int i, T(&to)[kPieces]) {
#pragma unroll
        for (int m = 0; m < kPieces; ++m)
          to[m] = i >= 0 && lane + 32 * m < i
                      ? factor[static_cast<size_t>(memory.pivots[i < 0 ? 0 : i]) * columns + lane +
                               32 * m]
                      : from_real<T>(0);
      };
      fetch(top, next);
#pragma unroll
      for (int m = kPieces - 1; m >= 0; --m) {
        if (32 * m > top) continue;
        for (int i = smaller(top, 32 * m + 31); i >= 32 * m; --i) {
#pragma unroll
          for (int e = 0; e < kPieces; ++e) column[e] = next[e];
          fetch(i - 1, next);
          const R reciprocal = memory.reciprocals[i];
          const int p = memory.pivots[i];
#pragma unroll
          for (int u = 0; u < kTogether; ++u) {
            const T value = scale(from_lane(right[u][m], i % 32), reciprocal);
            const int c = last - u;
            if (lane == 0 && i <= c && c < rank)
              inverse[static_cast<size_t>(c) * columns + p] = value;
#pragma unroll
            for (int e = 0; e <= m; ++e)
              right[u][e] = subtract_product(right[u][e], column[e], value);
          }
        }
      }
    }
  }

  __device__ CoreResult run(double tolerance) {
    // The loss of orthogonality that is left to one pass.
    constexpr R kKept = sizeof(R) == 8 ? R(1e-6) : R(1e-1);
    load();
    propose(0);
    synchronize();
    int rank = 0;
    bool is_sufficient = false;
    for (const int most = columns - kCoreTests;; ++rank) {
      const Candidate best = choose(rank);
      is_sufficient =
          sqrt(double(best.norm > 0 ? best.norm : R(0))) * error_over_column(rows, rank) <=
          tolerance;
      if (is_sufficient || rank >= most || !(best.norm <= largest(R(0)))) break;
      T q[kRows];
      fetch(rank, best.column, q);
      if (rank > 0 && best.norm < kKept * best.first) repeat_orthogonalization(best.column, q);
      pick(best.column, rank, q);
      propose(rank + 1);
      synchronize();
    }
    if (is_sufficient) {
      write_basis();
      write_inverse(rank);
    }
    synchronize();  // no block ends while others read of it
    return {rank, is_sufficient, 0, 0};
  }
};

}  // namespace chol::cuda::tlr
