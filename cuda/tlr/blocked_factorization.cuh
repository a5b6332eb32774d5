// The steps of core.cuh with the columns in shared memory and up to eight pivots per step. The
// longest columns are orthogonalized among themselves by a pivoted Cholesky factorization of their
// Gram matrix. Those that remain among the longest are accepted, and the other columns are updated
// once for all accepted ones. Columns that have lost some digits are orthogonalized against the
// whole basis a second time.
#pragma once

#include "tlr/blocked_memory.cuh"

namespace chol::cuda::tlr {

/// Column j is the (j / kBlocks)-th of block j % kBlocks. The last columns may be tests, which are
/// updated like the others and are never chosen.
template <class T, int kBlocks>
struct BlockedFactorization : BlocksOfCore<kBlocks> {
  using BlocksOfCore<kBlocks>::synchronize;
  using BlocksOfCore<kBlocks>::of_block;
  using R = Real<T>;
  CoreItem item;
  BlockedCoreMemory<T> m;
  int rows, columns, candidates, tiles, block, thread, warp, lane;
  double tolerance;
  T *factor, *basis;

  __device__ BlockedFactorization(const CoreItem& given, int tests, double tolerance_, char* shared)
      : item(given),
        rows(given.rows),
        columns(given.columns),
        candidates(given.columns - tests),
        tolerance(tolerance_) {
    m.lay_out(shared, rows, columns, m.keys_of(columns, tests), kBlocks);
    tiles = ((columns + kBlocks - 1) / kBlocks + kTileColumns - 1) / kTileColumns;
    block = 0;
    if constexpr (kBlocks > 1)
      block = static_cast<int>(cooperative_groups::this_cluster().block_rank());
    thread = static_cast<int>(threadIdx.x);
    warp = thread / 32;
    lane = thread % 32;
    factor = static_cast<T*>(item.R);
    basis = static_cast<T*>(item.Q);
  }

  __device__ int place_of_key(int column) const {
    return column < candidates
               ? column
               : column - candidates + m.place_of_tests(columns, columns - candidates);
  }
  /// Writes the squared norm of a column to the shared memory of all blocks.
  __device__ void publish(int column, R norm) const {
    const int key = order_key(countable(norm), column), place = place_of_key(column);
    for (int b = 0; b < kBlocks; ++b) of_block(m.keys, b)[place] = key;
  }

  __device__ void load() {
    synchronize();  // shared memory of a block is accessible only after the block has started
    const T* const S = static_cast<const T*>(item.S);
    for (int own = warp; own < tiles * kTileColumns; own += kBlockedWarps) {
      const int column = own * kBlocks + block;
      R sum = 0;
      for (int i = lane; i < m.rows; i += 32) {
        const T x = column < columns && i < rows ? S[static_cast<size_t>(column) * rows + i]
                                                 : from_real<T>(0);
        m.X[own * m.ld + i] = x;
        sum += squared(x);
      }
      sum = sum_lanes<32>(sum);
      if (lane == 0 && column < columns) publish(column, sum);
    }
    if (thread < 4 && candidates + thread < (candidates + 3) / 4 * 4)
      m.keys[candidates + thread] = -1;
  }

  /// Selects the longest columns: for each column the longer ones are counted.
  __device__ void choose() {
    typename BlockedCoreMemory<T>::Panel& panel = *m.panel;
    if (thread == 0) panel.rest = 0;
    if (thread < kPanel) panel.chosen[thread] = -1;
    __syncthreads();
    const auto* const keys = reinterpret_cast<const Keys*>(m.keys);
    for (int c = thread; c < candidates; c += kBlockedThreads) {
      const int key = m.keys[c];
      if (key <= 0) continue;
      int longer = 0;
#pragma unroll 4
      for (int j = 0; j < (candidates + 3) / 4; ++j) {
        const Keys four = keys[j];
        for (const int other : four.of) longer += other > key;
      }
      if (longer < kPanel) panel.chosen[longer] = c;
      if (longer == kPanel) panel.rest = key;
    }
    __syncthreads();
  }
  __device__ R longest() const {
    const int c = m.panel->chosen[0];
    return c < 0 ? R(0) : norm_of_key<R>(m.keys[c]);
  }

  /// Copies the chosen columns and computes their inner products.
  __device__ void gather() {
    typename BlockedCoreMemory<T>::Panel& panel = *m.panel;
    for (int slot = warp; slot < kPanel; slot += kBlockedWarps) {
      const int c = panel.chosen[slot];
      const T* const from =
          of_block(m.X + (c < 0 ? 0 : c / kBlocks * m.ld), c < 0 ? 0 : c % kBlocks);
      T* const to = m.P + slot * m.ld;
      constexpr int kTogether = 4;
      for (int first = lane; first < m.rows; first += 32 * kTogether) {
        T x[kTogether];
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
          x[u] = c >= 0 && first + 32 * u < m.rows ? from[first + 32 * u] : from_real<T>(0);
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
          if (first + 32 * u < m.rows) to[first + 32 * u] = x[u];
      }
    }
    synchronize();  // no block changes its columns before all blocks have read them
    const int quads = m.rows / 4;
    multiply_panel(m.P, m.ld, 4 * (warp * quads / kBlockedWarps),
                   4 * ((warp + 1) * quads / kBlockedWarps), lane, m.scratch + warp * kWarpScratch);
    __syncthreads();
    if (thread < kPanel * kPanel) {
      T sum = m.scratch[thread];
      for (int w = 1; w < kBlockedWarps; ++w) sum = add(sum, m.scratch[w * kWarpScratch + thread]);
      panel.gram[thread] = sum;
      if (thread / kPanel == thread % kPanel) panel.first[thread / kPanel] = real(sum);
    }
    __syncthreads();
  }
  /// Called by the first warp: selects pivots among the chosen columns, and their order. After the
  /// first pivot, further ones need squared norms above `least_square`. With kCountsRest, the
  /// chosen columns must also have lost less than `share` of their squared norms, which is the
  /// assumed loss of the other columns.
  template <bool kCountsRest>
  __device__ void pick(int rank, int most, double least_square, double share) {
    typename BlockedCoreMemory<T>::Panel& panel = *m.panel;
    // Squared ratios of a norm: to the longest column not chosen, and to the accuracy of the Gram
    // matrix.
    constexpr R kLong = R(0.03), kSeen = sizeof(R) == 8 ? R(1e-4) : R(1e-2);
    const R least = kLong * norm_of_key<R>(panel.rest);
    const int i = lane / 4, j = lane % 4 * 2;
    unsigned open = 0;
    for (int slot = 0; slot < kPanel; ++slot) open |= unsigned{panel.chosen[slot] >= 0} << slot;
    double before = -1;
    int accepted = 0;
    for (; open != 0 && rank + accepted < most; ++accepted) {
      int p = -1;
      R longest = 0;
      double squares = 0;
#pragma unroll
      for (int slot = 0; slot < kPanel; ++slot) {
        const R its = real(panel.gram[slot * (kPanel + 1)]);
        if (!(open >> slot & 1)) continue;
        if constexpr (kCountsRest) squares += double(its);
        if (its > longest) {
          longest = its;
          p = slot;
        }
      }
      if (before < 0) before = squares;
      if (p < 0 || (accepted > 0 && (longest < least || longest < kSeen * panel.first[p] ||
                                     double(longest) <= least_square ||
                                     (kCountsRest && before - squares >= share * before))))
        break;
      const R reciprocal = reciprocal_sqrt(longest);
      const T left = scale(panel.gram[p * kPanel + i], reciprocal);
      const T right[2] = {scale(panel.gram[p * kPanel + j], reciprocal),
                          scale(panel.gram[p * kPanel + j + 1], reciprocal)};
      const T row = scale(panel.gram[p * kPanel + lane % kPanel], reciprocal);
      __syncwarp();
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        T& to = panel.gram[i * kPanel + j + e];
        to = subtract_product(to, conj(left), right[e]);
      }
      if (lane < kPanel) panel.upper[accepted * kPanel + lane] = row;
      if (lane == 0) {
        panel.order[accepted] = p;
        panel.reciprocals[accepted] = reciprocal;
      }
      open &= ~(1u << p);
      __syncwarp();
    }
    if (lane == 0) panel.accepted = accepted;
  }

  /// Stores vectors [rank, rank + accepted) of the basis in P and in memory, and the corresponding
  /// rows of R.
  __device__ void enter(int rank) {
    typename BlockedCoreMemory<T>::Panel& panel = *m.panel;
    const int accepted = panel.accepted;
    for (int i = thread; i < m.rows; i += kBlockedThreads) {
      T q[kPanel];
#pragma unroll
      for (int l = 0; l < kPanel; ++l) {
        q[l] = from_real<T>(0);
        if (l >= accepted) continue;
        const int slot = panel.order[l];
        T x = m.P[slot * m.ld + i];
#pragma unroll
        for (int u = 0; u < l; ++u) x = subtract_product(x, q[u], panel.upper[u * kPanel + slot]);
        q[l] = scale(x, panel.reciprocals[l]);
        if (block == 0 && i < rows) basis[static_cast<size_t>(rank + l) * rows + i] = q[l];
      }
#pragma unroll
      for (int l = 0; l < kPanel; ++l) m.P[l * m.ld + i] = q[l];
    }
    if (thread < kPanel * kPanel) {
      const int l = thread / kPanel, u = thread % kPanel;
      if (l <= u && u < accepted && block == 0)
        factor[static_cast<size_t>(panel.chosen[panel.order[u]]) * columns + rank + l] =
            panel.upper[l * kPanel + panel.order[u]];
    }
    if (thread < accepted) {
      const int c = panel.chosen[panel.order[thread]];
      m.pivots[rank + thread] = c;
      m.keys[c] = -1;
    }
    __syncthreads();
  }

  /// Subtracts from the remaining columns their components along the `count` vectors in P, which
  /// are vectors first, first + 1, ... of the basis.
  __device__ void update(int first, int count, bool is_repeated) {
    for (int tile = warp; tile < tiles; tile += kBlockedWarps) {
      T* const scratch = m.scratch + warp * kWarpScratch;
      R* const sums = m.sums + warp * kTileColumns;
      const PanelProducts<T> products{m.X + tile * kTileColumns * m.ld, m.P, m.ld, m.rows, scratch};
      const auto column_of = [&](int c) { return (tile * kTileColumns + c) * kBlocks + block; };
      const auto is_left = [&](int column) {
        return column < columns && m.keys[place_of_key(column)] >= 0;
      };
      products.coefficients(lane);
      __syncwarp();
      for (int e = lane; e < kTileColumns * kPanel; e += 32) {
        const int column = column_of(e / kPanel), q = e % kPanel;
        if (q >= count || !is_left(column)) continue;
        const T coefficient = scratch[e / kPanel * kScratchPitch + q];
        T& to = factor[static_cast<size_t>(column) * columns + first + q];
        to = is_repeated ? add(to, coefficient) : coefficient;
      }
      products.subtract(lane, sums);
      __syncwarp();
      if (lane < kTileColumns && is_left(column_of(lane))) publish(column_of(lane), sums[lane]);
      __syncwarp();
    }
  }

  /// Orthogonalizes the remaining columns a second time.
  __device__ void repeat(int rank) {
    synchronize();  // all threads have compared the norms, which now change
    for (int first = 0; first < rank; first += kPanel) {
      const int count = smaller(kPanel, rank - first);
      __syncthreads();
      for (int q = warp; q < kPanel; q += kBlockedWarps)
        for (int i = lane; i < m.rows; i += 32)
          m.P[q * m.ld + i] = q < count && i < rows
                                  ? basis[static_cast<size_t>(first + q) * rows + i]
                                  : from_real<T>(0);
      __syncthreads();
      update(first, count, true);
    }
  }

  /// Stopping criterion of pivoting: see pick().
  struct Limit {
    bool is_reached;
    double least_square, share;
  };
  /// Selects up to `most` columns until limit(longest, rank) is reached, where longest is the
  /// squared norm of the longest candidate. Returns whether it was reached. `rank` is the number of
  /// selected columns.
  template <bool kCountsRest, class LimitOf>
  __device__ bool factorize(int most, const LimitOf& limit_of, int& rank) {
    // The squared loss of norm that triggers a second orthogonalization.
    constexpr R kKept = sizeof(R) == 8 ? R(1e-6) : R(1e-2);
    R reference = -1;
    rank = 0;
    for (;;) {
      synchronize();
      choose();
      const R best = longest();
      if (reference < R(0)) reference = best;
      const Limit limit = limit_of(best, rank);
      if (limit.is_reached) return true;
      if (rank >= most || !(best <= largest(best))) return false;
      if (rank > 0 && best < kKept * reference) {
        reference = best;
        repeat(rank);
        continue;
      }
      gather();
      if (warp == 0) pick<kCountsRest>(rank, most, limit.least_square, limit.share);
      __syncthreads();
      const int accepted = m.panel->accepted;
      if (accepted == 0) return false;
      enter(rank);
      update(rank, accepted, false);
      rank += accepted;
    }
  }
};

}  // namespace chol::cuda::tlr
