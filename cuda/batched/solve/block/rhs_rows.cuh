// The right-hand sides of solve/block/kernel.cuh in the registers of a warp: the rows of
// kWarpBlocks (one or two) diagonal blocks, of kColumns right-hand sides. All kinds have
//  - load, store: from and to memory;
//  - solve<kForward>: the rows of a block, by the inverse of its diagonal block, for all warps;
//  - prepare<kForward>: the part of the update that can be done before that;
//  - update<kForward>: subtracts the products with the solved rows from the rows of the following
//  blocks.
#pragma once

#include "batched/solve/block/smem_triangle.cuh"
#include "batched/solve/rhs_view.cuh"
#include "common/mbarrier.cuh"

namespace chol::cuda {

/// Data shared by the warps of a group, and the index of this warp.
template <class Triangle, class T>
struct BlockExchange {
  Triangle L;
  T* solved;  ///< the rows of every block, while and after they are solved
  int group, warp, lane;

  /// Signals that the rows of a block are solved. Separate for the two sweeps: a warp that has
  /// finished the forward sweep may wait for blocks that have not yet started it.
  template <bool kForward>
  __device__ __forceinline__ ProgressBarrier& is_solved(int block) const {
    return reinterpret_cast<ProgressBarrier*>(L.padding(block, group))[kForward ? 0 : 1];
  }
  /// Whether rows of block `own` come after those of `solved_block` in that sweep.
  template <bool kForward>
  __device__ static __forceinline__ bool is_after(int own, int solved_block) {
    return kForward ? own > solved_block : own < solved_block;
  }
};

/// Block (own, other) of op(L), from its row `row` and its column `column` on, where op is the
/// conjugate transpose in the backward sweep.
template <bool kForward, bool kSwapped, class T, class Triangle>
struct PanelView {
  static constexpr bool kAcross = kForward != kSwapped;  ///< rows are contiguous
  const T* from;
  int pitch;

  __device__ __forceinline__ PanelView(const Triangle& L, int own, int other, int row, int column) {
    const int i = kForward ? own : other, j = kForward ? other : own;
    pitch = L.pitch(L.n, kSwapped ? i : j);
    from = L.block(i, j) + (kAcross ? column * pitch + row : row * pitch + column);
  }
  /// e[t] := the element of row r and column k + t.
  template <int kCount>
  __device__ __forceinline__ void read(T (&e)[kCount], int r, int k) const {
    if constexpr (kAcross) {
#pragma unroll
      for (int t = 0; t < kCount; ++t) e[t] = from[(k + t) * pitch + r];
    } else {
      copy_wide<kCount>(e, from + r * pitch + k);
    }
    if constexpr (!kForward) {
#pragma unroll
      for (int t = 0; t < kCount; ++t) e[t] = conj(e[t]);
    }
  }
};

/// One right-hand side, one lane a row or, with one block, two: then each of them subtracts half of
/// the products, and the row is their sum.
template <class T, bool kSwapped, int kWarpBlocks>
struct RowOfLane {
  static constexpr int kColumns = 1, kPad = 16 / sizeof(T), kPitch = 1;
  using Triangle = BlockTriangle<T, kSwapped, kPad>;
  using Exchange = BlockExchange<Triangle, T>;
  template <bool kForward>
  using View = PanelView<kForward, kSwapped, T, Triangle>;
  static constexpr int kOrder = Triangle::kOrder, kHalf = kOrder / 2;
  static constexpr bool kShared = kWarpBlocks == 1;  ///< two lanes a row
  static constexpr int kTerms = kShared ? kHalf : kOrder;
  T v;

  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, const Exchange& x,
                                       int64_t column) {
    const bool there = is_first(x) && rhs.has(row(x), column);
    v = there ? conj_if(rhs.conjugated, *rhs.at(row(x), column)) : from_real<T>(0);
  }
  __device__ __forceinline__ void store(const RightHandSides<T>& rhs, const Exchange& x,
                                        int64_t column) const {
    if (is_first(x) && rhs.has(row(x), column))
      *rhs.at(row(x), column) = conj_if(rhs.conjugated, v);
  }
  template <bool kForward>
  __device__ __forceinline__ void solve(const Exchange& x, int block) {
    const bool own = x.lane / kOrder == (kShared ? 0 : block % 2);
    const int i = x.lane % kOrder, first = x.lane / kOrder * kHalf;
    const T whole = kShared ? sum_lanes<32, kOrder>(v) : v;
    T* const rows = x.solved + kOrder * block;
    if (own) rows[i] = whole;
    __syncwarp();
    T inverse[kHalf], b[kHalf], sums[2] = {from_real<T>(0), from_real<T>(0)};
    View<kForward>(x.L, block, block, i, first).read(inverse, 0, 0);
    copy_wide<kHalf, T>(b, rows + first);
    __syncwarp();
#pragma unroll
    for (int k = 0; k < kHalf; ++k) sums[k % 2] = subtract_product(sums[k % 2], inverse[k], b[k]);
    const T found = negative(sum_lanes<32, kOrder>(add(sums[0], sums[1])));
    v = select(own, found, kShared ? from_real<T>(0) : v);
    if (own) rows[i] = found;
  }
  template <bool kForward>
  __device__ __forceinline__ void prepare(const Exchange& x, int block) {
    const int i = place(x);
    View<kForward>(x.L, i / kOrder, block, i % kOrder, first_term(x)).read(e, 0, 0);
  }
  template <bool kForward>
  __device__ __forceinline__ void update(const Exchange& x, int block) {
    T found[kTerms], sums[2] = {v, from_real<T>(0)};
    copy_wide<kTerms, T>(found, x.solved + kOrder * block + first_term(x));
#pragma unroll
    for (int k = 0; k < kTerms; ++k) sums[k % 2] = subtract_product(sums[k % 2], e[k], found[k]);
    const T left = add(sums[0], sums[1]);
    v = kShared || Exchange::template is_after<kForward>(row(x) / kOrder, block) ? left : v;
  }

  __device__ static __forceinline__ int row(const Exchange& x) {
    return kOrder * kWarpBlocks * x.warp + x.lane % (kOrder * kWarpBlocks);
  }
  /// Whether the lane finally has the row, if two share it.
  __device__ static __forceinline__ bool is_first(const Exchange& x) {
    return !kShared || x.lane < kOrder;
  }

 private:
  alignas(16) T e[kTerms];  ///< result of prepare()

  /// The row, or the last existing one.
  __device__ static __forceinline__ int place(const Exchange& x) {
    return min(row(x), kOrder * x.L.blocks(x.L.n) - 1);
  }
  __device__ static __forceinline__ int first_term(const Exchange& x) {
    return kShared ? x.lane / kOrder * kHalf : 0;
  }
};

}  // namespace chol::cuda
