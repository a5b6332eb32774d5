// The leading block columns of a triangle in solve/block/kernel.cuh, below their diagonal blocks,
// in the registers of the warps that own the rows, so that one more block fits the shared memory of
// a multiprocessor.
#pragma once

#include "batched/solve/block/rhs_rows.cuh"
#include "common/warp_reduce.cuh"

namespace chol::cuda {

/// The *head* of a triangle are its first block rows, its *tail* are the rows below them in the
/// columns below them. Each is a separate triangle in shared memory with its own warps.
template <class Exchange>
struct BlockParts {
  Exchange head, tail;
  bool of_tail;  ///< the part of this warp
  Exchange own;

  __device__ __forceinline__ int first_row() const { return of_tail ? head.L.n : 0; }
  /// First row of the diagonal block of a warp of either part. @param of_head number of the head's
  /// warps, which is also in head.L, but is a constant here.
  __device__ __forceinline__ auto* padding(int warp, int of_head, int run) const {
    return warp < of_head ? head.L.padding(warp, run) : tail.L.padding(warp - of_head, run);
  }
};

/// The kHeld block columns below the head and left of the tail: in registers of the tail's lanes,
/// two a row, which hold alternate 16-byte pieces of a block, so that together they read full
/// sectors of a row. The forward sweep uses the blocks directly; for the backward one their
/// products with the solved rows are summed over lanes, and the head's warps read the sums.
template <class T, bool kSwapped, int kHeld>
struct HeldBlocks {
  using Rows = RowOfLane<T, kSwapped, 1>;
  using Exchange = typename Rows::Exchange;
  using Parts = BlockParts<Exchange>;
  static constexpr int kOrder = Rows::kOrder, kTerms = kOrder / 2, kColumns = kOrder * kHeld;
  static constexpr int kWide = 16 / sizeof(T);  ///< contiguous elements of a lane
  alignas(16) T held[kHeld][kTerms];

  /// Called by one warp of each part, before all warps synchronize.
  __device__ static __forceinline__ void init_progress(const Parts& parts) {
    const Exchange& x = parts.own;
    if (parts.of_tail && x.lane < x.L.blocks(x.L.n)) are_put(x, x.lane).prepare();
  }
  /// @param A the whole triangle.
  __device__ __forceinline__ void load(const LowerView<T>& A, const Parts& parts) {
    const Exchange& x = parts.own;
    const int i = Rows::row(x);
    const bool is_row = parts.of_tail && i < x.L.n;
    const int64_t along = kSwapped ? 1 : A.ld, line = kColumns + i;
    const T* const from = A.a + (kSwapped ? line * A.ld : line) + column(0, x) * along;
    for_chunk_size(A, [&]<int kChunk>(std::integral_constant<int, kChunk>) {
      constexpr int kAtOnce = kSwapped ? kChunk : 1;
#pragma unroll
      for (int j = 0; j < kHeld; ++j)
#pragma unroll
        for (int t = 0; t < kTerms; t += kAtOnce) {
#pragma unroll
          for (int e = 0; e < kAtOnce; ++e) held[j][t + e] = from_real<T>(0);
          const T* const chunk = from + (kOrder * j + in_turn(t)) * along;
          if (is_row) copy_wide<kAtOnce>(&held[j][t], chunk);
        }
    });
  }
  /// Before the forward sweep a warp of the tail subtracts the products with the head's unknowns
  /// from its rows.
  __device__ __forceinline__ void begin_forward(Rows& rows, const Parts& parts,
                                                unsigned phase) const {
    const Exchange &x = parts.own, &head = parts.head;
    if (!has_rows(parts)) return;
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      head.template is_solved<true>(j).wait(phase);
      T found[kTerms], sums[2] = {rows.v, from_real<T>(0)};
#pragma unroll
      for (int t = 0; t < kTerms; t += kWide)
        copy_wide<kWide, T>(found + t, head.solved + kOrder * j + column(t, x));
#pragma unroll
      for (int k = 0; k < kTerms; ++k)
        sums[k % 2] = subtract_product(sums[k % 2], held[j][k], found[k]);
      rows.v = add(sums[0], sums[1]);
    }
  }
  /// Before the backward sweep a warp of the head adds the tail's products to its rows.
  __device__ static __forceinline__ void begin_backward(Rows& rows, const Parts& parts,
                                                        unsigned phase) {
    const Exchange &x = parts.own, &tail = parts.tail;
    if (parts.of_tail) return;
#pragma unroll 1
    for (int block = tail.L.blocks(tail.L.n) - 1; block >= 0; --block) {
      are_put(tail, block).wait(phase);
      if (Rows::is_first(x)) rows.v = add(rows.v, products(tail, block)[Rows::row(x)]);
    }
  }
  /// After it a warp of the tail stores the products with its solved rows after all rows.
  __device__ __forceinline__ void end_backward(const Parts& parts, unsigned phase) const {
    const Exchange& x = parts.own;
    if (!has_rows(parts)) return;
    const T own = x.solved[Rows::row(x)];
    T* const to = products(x, x.warp) + column(x.lane % kTerms, x);
#pragma unroll
    for (int j = 0; j < kHeld; ++j) {
      T terms[kTerms];
#pragma unroll
      for (int t = 0; t < kTerms; ++t)
        terms[t] = subtract_product(from_real<T>(0), conj(held[j][t]), own);
      const T sum = sum_lanes_each<kTerms, kOrder>(terms, x.lane);
      if (x.lane % kOrder < kTerms) to[kOrder * j] = sum;
    }
    are_put(x, x.warp).raise(phase);
  }

 private:
  __device__ static __forceinline__ bool has_rows(const Parts& parts) {
    return parts.of_tail && parts.own.warp < parts.own.L.blocks(parts.own.L.n);
  }
  /// The column in a block of element t of a row's first lane.
  __device__ static constexpr int in_turn(int t) { return t / kWide * 2 * kWide + t % kWide; }
  __device__ static __forceinline__ int column(int t, const Exchange& x) {
    return in_turn(t) + x.lane / kOrder * kWide;
  }
  __device__ static __forceinline__ T* products(const Exchange& tail, int block) {
    return tail.solved + kOrder * tail.L.blocks(tail.L.n) + kColumns * block;
  }
  __device__ static __forceinline__ ProgressBarrier& are_put(const Exchange& tail, int block) {
    return *reinterpret_cast<ProgressBarrier*>(tail.L.padding(block, kOrder - 1));
  }
};

/// Without a head: the whole triangle is the tail, in shared memory.
template <class T, bool kSwapped>
struct HeldBlocks<T, kSwapped, 0> {
  template <class Parts>
  __device__ static __forceinline__ void init_progress(const Parts&) {}
  template <class Parts>
  __device__ __forceinline__ void load(const LowerView<T>&, const Parts&) {}
  template <class Rows, class Parts>
  __device__ __forceinline__ void begin_forward(Rows&, const Parts&, unsigned) const {}
  template <class Rows, class Parts>
  __device__ static __forceinline__ void begin_backward(Rows&, const Parts&, unsigned) {}
  template <class Parts>
  __device__ __forceinline__ void end_backward(const Parts&, unsigned) const {}
};

}  // namespace chol::cuda
