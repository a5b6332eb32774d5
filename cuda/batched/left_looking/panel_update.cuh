// Update of a warp's rows of a block column: subtracts the product of all columns to the left, of
// its own rows and of the diagonal block's. Each warp stages both operands itself, a few columns
// ahead of the multiplication; no synchronization between warps.
#pragma once

#include "batched/left_looking/panel_gemm.cuh"

namespace chol::cuda {

/// One warp's rows of a block column, by shapes of left_looking/kernel.cuh. Where they include
/// those of the diagonal block, these are not staged twice.
template <class T, bool kSwapped, class Shape>
struct RowUpdate {
  static constexpr int kColumns = Shape::kColumns, kDepth = Shape::kDepth;
  static constexpr bool kReadsAhead = (Shape::kOptions & cuda::kReadsAhead) != 0;
  static constexpr bool kStartsNext = (Shape::kOptions & cuda::kStartsNext) != 0;
  static constexpr bool kPastFirst = (Shape::kOptions & cuda::kPastFirst) != 0;
  using Rows = RowBlock<T, kColumns>;
  using Product = ProductChoice<T, kColumns, kSwapped, Shape::kBy, kReadsAhead>;
  using Sums = typename Product::Sums;
  /// Misaligned columns are copied with a shift (smem_stage.cuh), which causes bank conflicts:
  /// faster than copies of 4 bytes, slower than those of 8. It takes registers.
  static constexpr bool kShifts = sizeof(T) == 4 && kReadsAhead;
  /// The warp's rows, room for the shift of misaligned lines, and then the block's rows.
  static constexpr int kBlockRow = 32 + (kShifts && !kSwapped ? Rows::kWide : 0);
  using Staged = StagedRows<T, kBlockRow + kColumns, kDepth, kSwapped, Shape::kBy>;
  static constexpr int kStage = Staged::kElements, kBlockAt = Staged::index(kBlockRow, 0);
  /// Buffer for transposing rows, separate from the stage that may be requested meanwhile.
  static constexpr int kScratchAt = kSwapped && kStartsNext ? kStage : 0;
  /// Shared elements of a warp.
  static constexpr int kStaging = larger(2 * kStage, kScratchAt + Rows::kScratch);

  /// Starts the copies of the first stage, which run() uses.
  /// @param left the rows from column 0 on. @param top the diagonal block's from there on.
  __device__ static __forceinline__ void start(const LowerView<T>& left, const LowerView<T>& top,
                                               const RowBlockPlace& place, T* staging, int lane) {
    __syncwarp();
    with_runs(place, [&]<Runs kRuns>(std::integral_constant<Runs, kRuns>) {
      OwnCopier<kRuns>(left.a, left.ld, place.rows, lane).copy(staging);
      if (place.diagonal < 0)
        BlockCopier<kRuns>(top.a, top.ld, kColumns, lane).copy(staging + kBlockAt);
      close_copy_group();
    });
  }

  /// rows := their elements of A minus the product of the `before` columns to the left.
  /// @param A from the warp's first row and the block's first column on. @param started whether
  /// start() has been called for them.
  __device__ static __forceinline__ void run(Rows& rows, const LowerView<T>& A,
                                             const LowerView<T>& left, const LowerView<T>& top,
                                             const RowBlockPlace& place, int before, bool started,
                                             T* staging, int lane) {
    run_in_parts(rows, A, left, top, place, before, before, started, staging, lane);
  }
  /// The same by the columns before `middle`, then by those from there on. A step of the tensor
  /// cores takes four columns: the start of the steps determines the order of complex sums.
  __device__ static __forceinline__ void run_in_parts(
      Rows& rows, const LowerView<T>& A, const LowerView<T>& left, const LowerView<T>& top,
      const RowBlockPlace& place, int middle, int before, bool started, T* staging, int lane) {
    const auto run_with = [&](Sums& sums) {
      with_runs(place, [&]<Runs kRuns>(std::integral_constant<Runs, kRuns>) {
        multiply_left<kRuns, true>(sums, A, left, top, place, middle, started, staging, lane);
        if (middle < before)
          multiply_left<kRuns, false>(sums, A, left.from(0, middle), top.from(0, middle), place,
                                      before - middle, false, staging, lane);
      });
      Product::finish(rows, sums, A, place, staging + kScratchAt, lane);
    };
    if constexpr (std::is_same_v<Sums, Rows>) {
      run_with(rows);
    } else {
      Sums sums;
      run_with(sums);
    }
  }

 private:
  // Strips are full if blocks have as many columns as strips have rows.
  template <Runs kRuns>
  using OwnCopier = typename Staged::template Copier<kRuns, kColumns % 32 != 0, 32, kPastFirst, 32>;
  template <Runs kRuns>
  using BlockCopier = typename Staged::template Copier<kRuns, false, 32, kPastFirst, kColumns>;

  template <class Body>
  __device__ static __forceinline__ void with_runs(const RowBlockPlace& place, Body&& body) {
    choose_runs<Rows::kWide, kShifts>(place.aligned, body);
  }
  /// Subtracts the product of the columns [0, before) from the sums. @tparam kBegins whether the
  /// sums are initialized first.
  template <Runs kRuns, bool kBegins>
  __device__ static __forceinline__ void multiply_left(Sums& sums, const LowerView<T>& A,
                                                       const LowerView<T>& left,
                                                       const LowerView<T>& top,
                                                       const RowBlockPlace& place, int before,
                                                       bool started, T* staging, int lane) {
    OwnCopier<kRuns> own(left.a, left.ld, place.rows, lane);
    BlockCopier<kRuns> block(top.a, top.ld, kColumns, lane);
    const int own_shift = Staged::template lane_shift<kRuns>(left.a, left.ld, lane);
    const int block_shift = Staged::template lane_shift<kRuns>(top.a, top.ld, lane);
    const bool copies_block = place.diagonal < 0;
    const int block_at = copies_block ? kBlockAt : 0;
    // The position of the commit changes register spills by up to 220 bytes, or a tenth of the
    // rate: different shapes prefer different positions.
    constexpr bool kCloseInBranches = (Shape::kOptions & kSavesRegisters) != 0;
    const auto stage = [&](T* to, int depth) {
      if (depth >= kDepth) {
        own.copy(to);
        if (copies_block) block.copy(to + kBlockAt);
        if (kCloseInBranches) close_copy_group();
      } else {
        own.copy_last(to, depth);
        if (copies_block) block.copy_last(to + kBlockAt, depth);
        if (kCloseInBranches) close_copy_group();
      }
      if (!kCloseInBranches) close_copy_group();
    };
    if (kStartsNext && started) {
      own.skip();
      block.skip();
    } else {
      __syncwarp();
      stage(staging, before);
    }
    if constexpr (kBegins) Product::begin(sums, A, place, lane);
    T* at = staging;
    T* next = staging + kStage;
#pragma unroll 1
    for (int k = before - kDepth;; k -= kDepth) {  // columns after this stage
      if (k > 0) {
        stage(next, k);
        wait_for_copy_groups<1>();
      } else {
        wait_for_copy_groups<0>();
      }
      __syncwarp();
      Product::template multiply<1>(&sums, Staged::operand(at, 0, own_shift),
                                    Staged::operand(at + block_at, 0, block_shift), lane,
                                    place.rows);
      __syncwarp();
      if (k <= 0) break;
      T* const done = at;
      at = next;
      next = done;
    }
  }
};

}  // namespace chol::cuda
