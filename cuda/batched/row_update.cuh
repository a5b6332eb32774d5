// What a warp subtracts from its rows of a block column: the product of all columns to the left, of
// its own rows and of the diagonal block's. The warp stages both for itself, a few columns ahead of
// the multiplication, and nobody has to wait for anybody.
#pragma once

#include "batched/row_product.cuh"

namespace chol::cuda {

/// Shared elements of a warp: two stages of operands, or a transpose.
template <class T, int kColumns, int kDepth>
__host__ __device__ constexpr int staging_elements(bool swapped) {
  const int staged = swapped ? StagedRows<T, 32, kDepth, true>::kElements +
                                   StagedRows<T, kColumns, kDepth, true>::kElements
                             : StagedRows<T, 32, kDepth, false>::kElements +
                                   StagedRows<T, kColumns, kDepth, false>::kElements;
  const int scratch = RowBlock<T, kColumns>::kScratch;
  return 2 * staged > scratch ? 2 * staged : scratch;
}

/// The product of the columns [0, before) out of what it begins with.
/// @tparam kPastFirst see copy_async_of_line. @tparam kRun elements that may be moved at once.
template <int kDepth, bool kSwapped, bool kPastFirst, int kRun, class T, int kColumns>
__device__ __forceinline__ void multiply_left(RowBlock<T, kColumns>& sums, const LowerView<T>& A,
                                              const LowerView<T>& left, const LowerView<T>& top,
                                              const RowBlockPlace& place, int before, T* staging,
                                              int lane) {
  using Product = typename ProductChoice<T, kColumns, kSwapped>::Type;
  using Own = StagedRows<T, 32, kDepth, kSwapped>;
  using Block = StagedRows<T, kColumns, kDepth, kSwapped>;
  constexpr int kBuffer = Own::kElements + Block::kElements;
  // Strips are whole where blocks have as many columns as strips have rows.
  typename Own::template Copier<kRun, kColumns % 32 != 0, 32, kPastFirst> own(left.a, left.ld,
                                                                              place.rows, lane);
  typename Block::template Copier<kRun, false, 32, kPastFirst> block(top.a, top.ld, kColumns, lane);
  const auto stage = [&](T* to, int depth) {
    if (depth >= kDepth) {
      own.copy(to);
      block.copy(to + Own::kElements);
    } else {
      own.copy_last(to, depth);
      block.copy_last(to + Own::kElements, depth);
    }
    close_copy_group();
  };
  __syncwarp();
  stage(staging, before);
  Product::begin(sums, A, place, lane);
  T* at = staging;
  T* next = staging + kBuffer;
#pragma unroll 1
  for (int k = before - kDepth;; k -= kDepth) {  // columns after this stage
    if (k > 0) {
      stage(next, k);
      wait_for_copy_groups<1>();
    } else {
      wait_for_copy_groups<0>();
    }
    __syncwarp();
    Product::template multiply<1>(&sums, Own::operand(at), Block::operand(at + Own::kElements),
                                  lane, place.rows);
    __syncwarp();
    if (k <= 0) break;
    T* const done = at;
    at = next;
    next = done;
  }
}
/// rows := their elements of A less the product of the columns to the left.
/// @param A from the warp's first row and the block's first column on. @param left the same rows
/// from column 0 on. @param top the diagonal block's rows from column 0 on.
template <int kDepth, bool kSwapped, bool kPastFirst, class T, int kColumns>
__device__ __forceinline__ void update_rows(RowBlock<T, kColumns>& rows, const LowerView<T>& A,
                                            const LowerView<T>& left, const LowerView<T>& top,
                                            const RowBlockPlace& place, int before, T* staging,
                                            int lane) {
  constexpr int kWide = RowBlock<T, kColumns>::kWide;
  if (kWide == 1 || place.aligned)
    multiply_left<kDepth, kSwapped, kPastFirst, kWide>(rows, A, left, top, place, before, staging,
                                                       lane);
  else
    multiply_left<kDepth, kSwapped, kPastFirst, 1>(rows, A, left, top, place, before, staging,
                                                   lane);
  ProductChoice<T, kColumns, kSwapped>::Type::finish(rows, A, place, staging, lane);
}

}  // namespace chol::cuda
