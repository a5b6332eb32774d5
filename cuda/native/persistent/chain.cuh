// The block that factors the diagonal tiles and the tiles below them, one after the other, while
// all other blocks do the rest. A step has its tiles in shared memory: D (c, c), S (c + 1, c) and T
// (c + 1, c + 1), L (c, c - 1) from the previous step, and L (c + 1, c - 1) from a group: the last
// products are subtracted here, so that no step waits for the latest results of other blocks. Each
// warp has a part; the factorization of D, which is the critical path, shares its quarter of the
// multiprocessor with no tensor core work.
#pragma once

#include "native/persistent/call.cuh"
#include "native/persistent/diagonal.cuh"

namespace chol::cuda::persistent {

/// The barriers of a step. Steps alternate between two sets, and no warp is two steps behind.
template <class T>
struct ChainBarriers {
  static constexpr int kSide = Config<T>::kSide;
  Barrier inverted[kSide];  ///< diagonal block p of D
  Barrier solved[kSide];    ///< block column p of D
  Barrier updated[kSide];   ///< blocks (p + 1, p) and (p + 1, p + 1) by the block columns before p
  Barrier first, second;    ///< T: block (0, 0), then (1, 0) and (1, 1),
  Barrier rest;             ///< all others
  Barrier below;            ///< S,
  Barrier stored;           ///< and its part of the factor
  Barrier used;             ///< L (c, c - 1) and L (c + 1, c - 1) are no longer needed,
  Barrier published;        ///< nor is D
  Barrier loaded;           ///< S and T are there,
  Barrier left[kSide];      ///< and L (c + 1, c - 1), block column by block column
};

template <class T, bool swapped, bool aligned>
struct Chain {
  using D = Doubled<T>;
  using C = Config<T>;
  using Fragment = Block<C::kParts>;
  static constexpr int kSide = C::kSide, kPitch = C::kPitch;
  static constexpr int kHelpers = kSide == 4 ? 3 : 0, kSquareWarps = kSide == 4 ? 2 : 1;

  const Call<T>& call;
  ChainBarriers<T>* barriers;
  D* tiles;      ///< three alternating as D and T, two alternating as S, the left one
  D* diagonals;  ///< of D, factored: two steps
  D* columns;    ///< for broadcasting columns in the factoring warp
  int lane_id;
  Lane lane;
  Schedule schedule;

  __device__ __forceinline__ Chain(const Call<T>& call, unsigned char* memory, int lane_id)
      : call(call),
        barriers(reinterpret_cast<ChainBarriers<T>*>(memory)),
        tiles(reinterpret_cast<D*>(memory + kBarrierBytes)),
        diagonals(tiles + 6 * C::kTile),
        columns(diagonals + 2 * kSide * kSmall * kSmall),
        lane_id(lane_id),
        lane(lane_id),
        schedule(call.schedule()) {
    static_assert(2 * sizeof(ChainBarriers<T>) <= kBarrierBytes);
  }

  __device__ __forceinline__ ChainBarriers<T>& of(int c) const { return barriers[c & 1]; }
  __device__ __forceinline__ static unsigned parity(int c) { return (c >> 1) & 1; }
  /// Phase of `loaded` and `left`, which step 0 does not use.
  __device__ __forceinline__ static unsigned loaded_parity(int c) { return ((c - 1) >> 1) & 1; }
  __device__ __forceinline__ D* diagonal(int c) const { return tiles + c % 3 * C::kTile; }
  __device__ __forceinline__ D* next(int c) const { return diagonal(c + 1); }
  __device__ __forceinline__ D* below(int c) const { return tiles + (3 + (c & 1)) * C::kTile; }
  __device__ __forceinline__ D* left() const { return tiles + 5 * C::kTile; }
  __device__ __forceinline__ static D* at(D* tile, int i, int j) {
    return tile + kSmall * (j * kPitch + i);
  }
  __device__ __forceinline__ D* factor(int c, int p) const {
    return diagonals + ((c & 1) * kSide + p) * kSmall * kSmall;
  }
  __device__ __forceinline__ bool has_below(int c) const { return c + 1 < schedule.rows; }

  __device__ __forceinline__ void prepare_barriers() const {
    for (int turn = 0; turn < 2; ++turn) {
      ChainBarriers<T>& b = barriers[turn];
      for (int p = 0; p < kSide; ++p) {
        b.inverted[p].prepare_for_warps(1);
        b.solved[p].prepare_for_warps(1 + kHelpers);
        b.updated[p].prepare_for_warps(2);
      }
      b.first.prepare_for_warps(1);
      b.second.prepare_for_warps(2);
      b.rest.prepare_for_warps(kSide - 1 + kSquareWarps);
      b.below.prepare_for_warps(kSide);
      b.stored.prepare_for_warps(kSide);
      b.used.prepare_for_warps(kSide + kSquareWarps);
      b.published.prepare_for_warps(1);
      b.loaded.prepare(32);
      for (int k = 0; k < kSide; ++k) b.left[k].prepare(32);
    }
  }

  /// Loads the tiles of step 0, by all threads. The matrix is padded by an identity.
  __device__ __forceinline__ void load_first(int thread) const {
    constexpr int kOrder = C::kOrder;
    for (int which = 0; which < (has_below(0) ? 3 : 1); ++which) {
      D* const to = which == 0 ? diagonal(0) : which == 1 ? below(0) : next(0);
      const int row0 = which == 0 ? 0 : kOrder, column0 = which == 2 ? kOrder : 0;
#pragma unroll 4
      for (int k = thread; k < kOrder * kOrder; k += C::kThreads) {
        const int i = swapped ? k / kOrder : k % kOrder, j = swapped ? k % kOrder : k / kOrder;
        const int row = row0 + i, column = column0 + j;
        D value = from_real<D>(row == column ? 1.0 : 0.0);
        if (row < call.n && column <= row)
          value = convert<D>(*call.template at<swapped>(row, column));
        to[j * kPitch + i] = value;
      }
    }
  }

  /// x = block inverse^H, in place.
  __device__ __forceinline__ void solve(Fragment& x, D* block, const D* inverse) const {
    Fragment a, m;
    load(a, block, kPitch, lane);
    load(m, inverse, kPitch, lane);
    x.clear();
    multiply(x, a, m);
    store(block, x, kPitch, lane);
  }
  __device__ __forceinline__ void subtract(D* block, Fragment& sum) const {
    Fragment value;
    load(value, block, kPitch, lane);
    sum.subtract_from(value);
    store(block, sum, kPitch, lane);
  }
  /// block -= a b^H
  __device__ __forceinline__ void update(D* block, const D* a, const D* b) const {
    Fragment x, y, sum;
    load(x, a, kPitch, lane);
    load(y, b, kPitch, lane);
    sum.clear();
    multiply(sum, x, y);
    subtract(block, sum);
  }

  /// One warp: the diagonal blocks of D, and the updates that the next one needs immediately.
  __device__ __forceinline__ void factor_tiles() const {
    int info = 0;
    for (int c = 0; c < schedule.columns; ++c) {
      ChainBarriers<T>& now = of(c);
      D* const tile = diagonal(c);
      if (c > 0) of(c - 1).first.wait(parity(c - 1));
      if (c > 1) of(c - 2).published.wait(parity(c - 2));  // so that factor() is free
#pragma unroll 1
      for (int p = 0; p < kSide; ++p) {
        const int bad = factor_diagonal(at(tile, p, p), kPitch, factor(c, p), columns, lane_id);
        if (bad >= 0 && info == 0) info = call.before + c * C::kOrder + p * kSmall + bad + 1;
        __syncwarp();
        if (p + 1 < kSide) {
          if constexpr (kHelpers > 0) now.inverted[p].arrive_warp(lane_id);
          if (p > 0) now.updated[p].wait(parity(c));
          if (p == 0 && c > 0) of(c - 1).second.wait(parity(c - 1));
          Fragment x, sum;
          solve(x, at(tile, p + 1, p), at(tile, p, p));
          now.solved[p].arrive_warp(lane_id);
          sum.clear();
          multiply(sum, x, x);
          subtract(at(tile, p + 1, p + 1), sum);
          __syncwarp();
        } else {
          now.solved[p].arrive_warp(lane_id);
        }
      }
    }
    if (lane_id == 0 && (call.before == 0 || (info > 0 && *call.info == 0))) *call.info = info;
  }

  /// Warps h = 0, 1, 2: the other blocks of D at distance 1, 0 and 2 from the diagonal. The
  /// factoring warp needs the first blocks of the first two warps next.
  __device__ __forceinline__ void help(int h) const {
    const int below = h == 0 ? 1 : h == 1 ? 0 : 2;
    for (int c = 0; c < schedule.columns; ++c) {
      ChainBarriers<T>& now = of(c);
      D* const tile = diagonal(c);
      if (c > 0) of(c - 1).rest.wait(parity(c - 1));
      for (int p = 0; p + 1 < kSide; ++p) {
        now.inverted[p].wait(parity(c));
        if (h > p) {
          Fragment x;
          solve(x, at(tile, h + 1, p), at(tile, p, p));
        }
        now.solved[p].arrive_warp(lane_id);
        now.solved[p].wait(parity(c));
        for (int i = larger(p + 2, p + 1 + below); i < kSide; ++i) {
          update(at(tile, i, i - below), at(tile, i, p), at(tile, i - below, p));
          if (h < 2 && i == p + 2) now.updated[p + 1].arrive_warp(lane_id);
        }
        __syncwarp();
      }
      now.solved[kSide - 1].arrive_warp(lane_id);
    }
  }

  /// Warps s = 0 ... kSide - 1: 16 rows of S, and diagonal block s of T.
  __device__ __forceinline__ void solve_strip(int s) const {
    for (int c = 0; c < schedule.columns && has_below(c); ++c) {
      ChainBarriers<T>& now = of(c);
      D *const mine = below(c), *const tile = diagonal(c);
      Fragment sum[kSide], square;
#pragma unroll
      for (int q = 0; q < kSide; ++q) sum[q].clear();
      square.clear();
      if (c > 0) {
        of(c - 1).below.wait(parity(c - 1));
        D *const a = left(), *const b = below(c - 1);
#pragma unroll
        for (int k = 0; k < kSide; ++k) {
          now.left[k].wait(loaded_parity(c));
          Fragment x;
          load(x, at(a, s, k), kPitch, lane);
#pragma unroll
          for (int q = 0; q < kSide; ++q) {
            Fragment y;
            load(y, at(b, q, k), kPitch, lane);
            multiply(sum[q], x, y);
          }
          multiply(square, x, x);
        }
        now.used.arrive_warp(lane_id);
        now.loaded.wait(loaded_parity(c));
      } else {
        now.used.arrive_warp(lane_id);
      }
#pragma unroll
      for (int p = 0; p < kSide; ++p) {
        Fragment value, x;
        load(value, at(mine, s, p), kPitch, lane);
        sum[p].subtract_from(value);
        now.solved[p].wait(parity(c));
        load(value, at(tile, p, p), kPitch, lane);
        x.clear();
        multiply(x, sum[p], value);
#pragma unroll
        for (int q = p + 1; q < kSide; ++q) {
          load(value, at(tile, q, p), kPitch, lane);
          multiply(sum[q], x, value);
        }
        store(at(mine, s, p), x, kPitch, lane);
        if (p + 1 == kSide) now.below.arrive_warp(lane_id);
        multiply(square, x, x);
        if (p + 1 == kSide) {
          subtract(at(next(c), s, s), square);
          if (s == 1) now.second.arrive_warp(lane_id);
          if (s == 0)
            now.first.arrive_warp(lane_id);
          else if constexpr (kHelpers > 0)
            now.rest.arrive_warp(lane_id);
        }
        store_factor<swapped, aligned>(call, (c + 1) * C::kOrder + s * kSmall,
                                       c * C::kOrder + p * kSmall, x, lane);
      }
      now.stored.arrive_warp(lane_id);
    }
  }

  /// The blocks of T below its diagonal, divided among the warps w.
  template <class Body>
  __device__ __forceinline__ void for_blocks(int w, Body&& body) const {
    if constexpr (kSide == 2) {
      body(1, 0, 0);
    } else if (w == 0) {
      body(1, 0, 0), body(2, 0, 1), body(3, 0, 2);
    } else {
      body(2, 1, 0), body(3, 1, 1), body(3, 2, 2);
    }
  }
  __device__ __forceinline__ void add_product(Fragment& sum, D* tile, int i, int j, int k) const {
    Fragment x, y;
    load(x, at(tile, i, k), kPitch, lane);
    load(y, at(tile, j, k), kPitch, lane);
    multiply(sum, x, y);
  }
  __device__ __forceinline__ void update_square(int w) const {
    for (int c = 0; c < schedule.columns && has_below(c); ++c) {
      ChainBarriers<T>& now = of(c);
      Fragment sum[kSide == 4 ? 3 : 1];
      for_blocks(w, [&](int, int, int b) { sum[b].clear(); });
      if (c > 0) {
#pragma unroll
        for (int k = 0; k < kSide; ++k) {
          now.left[k].wait(loaded_parity(c));
          for_blocks(w, [&](int i, int j, int b) { add_product(sum[b], left(), i, j, k); });
        }
        now.used.arrive_warp(lane_id);
        now.loaded.wait(loaded_parity(c));
      } else {
        now.used.arrive_warp(lane_id);
      }
      now.below.wait(parity(c));
      for_blocks(w, [&](int i, int j, int b) {
#pragma unroll
        for (int k = 0; k < kSide; ++k) add_product(sum[b], below(c), i, j, k);
        subtract(at(next(c), i, j), sum[b]);
        if (i == 1) now.second.arrive_warp(lane_id);
      });
      if constexpr (kHelpers > 0) now.rest.arrive_warp(lane_id);
    }
  }

  /// One warp: publishes D to the groups and stores its part of the factor.
  __device__ __forceinline__ void publish() const {
    const Flags flags = flags_of(call);
    const bool is_alone = schedule.rows == 1;
    for (int c = 0; c < schedule.columns; ++c) {
      ChainBarriers<T>& now = of(c);
      D *const tile = diagonal(c), *const to = scratch_tile(call, Scratch::diagonal, c);
      const int corner = c * C::kOrder;
#pragma unroll 1
      for (int p = 0; p < kSide; ++p) {
        Fragment own, block;
        now.solved[p].wait(parity(c));
        if (!is_alone) {
#pragma unroll 1
          for (int q = p; q < kSide; ++q) {
            load(block, at(tile, q, p), kPitch, lane);
            store(to + kSmall * (p * C::kOrder + q), block, C::kOrder, lane);
          }
        }
        load(own, factor(c, p), kSmall, lane);
        __syncwarp();
        if (!is_alone && lane_id == 0) store_release(flags.published(c), p + 1);
        store_factor<swapped, aligned, true>(call, corner + kSmall * p, corner + kSmall * p, own,
                                             lane);
#pragma unroll 1
        for (int q = p + 1; q < kSide; ++q) {
          load(block, at(tile, q, p), kPitch, lane);
          store_factor<swapped, aligned>(call, corner + kSmall * q, corner + kSmall * p, block,
                                         lane);
        }
      }
      now.published.arrive_warp(lane_id);
      if (has_below(c)) {
        now.stored.wait(parity(c));
        if (lane_id == 0) add_release(flags.finished(c + 1), C::kWarps);
      }
    }
  }

  /// Columns [16 k, 16 (k + count)) of a tile of the workspace.
  __device__ __forceinline__ void copy_columns(D* to, Scratch which, int c, int k,
                                               int count) const {
    static_assert(C::kOrder * sizeof(D) == 512, "a chunk of 16 bytes a lane");
    const char* const from =
        reinterpret_cast<const char*>(scratch_tile(call, which, c)) + 16 * lane_id;
    const unsigned address = shared_address(to) + 16 * lane_id;
#pragma unroll 8
    for (int j = kSmall * k; j < kSmall * (k + count); ++j)
      copy_async_once(address + j * kPitch * int(sizeof(D)), from + j * 512);
  }
  /// One warp: copies the tiles prepared by groups.
  __device__ __forceinline__ void load_tiles() const {
    const Flags flags = flags_of(call);
    for (int c = 1; c < schedule.columns && has_below(c); ++c) {
      ChainBarriers<T>& now = of(c);
      of(c - 1).used.wait(parity(c - 1));
      if (c > 1) of(c - 2).published.wait(parity(c - 2));
      if (lane_id == 0) wait_for(flags.prepared(c), 2 * C::kWarps);
      __syncwarp();
      copy_columns(below(c), Scratch::below, c, 0, kSide);
      copy_columns(next(c), Scratch::square, c, 0, kSide);
      now.loaded.arrive_after_copies();
      for (int k = 0; k < kSide; ++k) {
        // The last one completes the tile, before the next one of its row is finished.
        if (lane_id == 0) {
          if (k + 1 < kSide)
            wait_for(flags.left(c, k), C::kWarps);
          else
            wait_for(flags.finished(c + 1), c * C::kWarps);
        }
        __syncwarp();
        copy_columns(left(), Scratch::left, c, k, 1);
        now.left[k].arrive_after_copies();
      }
    }
  }

  __device__ __forceinline__ void run(int warp) const {
    if (warp == 0) return factor_tiles();
    if constexpr (kSide == 4) {
      if (warp == 4) return load_tiles();
      if (warp == 8) return publish();
      if (warp == 2 || warp == 3) return update_square(warp - 2);
      if (warp > 8) return help(warp - 9);
      solve_strip(warp == 1 ? 3 : warp - 5);
    } else {
      if (warp == 4) return publish();
      if (warp == 1) return load_tiles();
      if (warp == 2 || warp == 3) return solve_strip(warp - 2);
      if (warp == 5) update_square(0);
    }
  }
};

}  // namespace chol::cuda::persistent
