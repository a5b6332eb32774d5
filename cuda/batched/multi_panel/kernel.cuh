// Left-looking factorization of a large matrix by one thread block in one launch, with block
// columns of several panels, so that the columns to their left are read less often. All warps
// update a block column together from operands staged in shared memory; then its panels are
// factored from left to right, each updated by the previous ones.
//
// The first block column has one panel, the only one that may be narrow; the second has as many as
// leave full block columns.
#pragma once

#include "batched/left_looking/block_index.cuh"
#include "batched/left_looking/panel_gemm.cuh"

namespace chol::cuda {

/// Constants of the shape. The grid of warps has rows of 32 matrix rows and columns of kParts
/// parts.
template <class T, bool kSwapped, class Shape>
struct WideLayout {
  using Rows = RowBlock<T, kBlockColumnsOf<T>>;
  using Block = DiagonalBlock<T, Rows::kColumns>;
  using Product = ProductChoice<T, Rows::kColumns, kSwapped, Shape::kBy>;
  using Sums = typename Product::Sums;
  static constexpr int kColumns = Rows::kColumns, kWarps = Shape::kWarps, kThreads = 32 * kWarps;
  static constexpr int kParts = Shape::kParts, kRowGroups = kWarps / Shape::kColumnGroups;
  static constexpr int kAllParts = kParts * Shape::kColumnGroups;
  static constexpr int kWidth = kAllParts * kColumns, kStrip = 32 * kRowGroups;
  static constexpr int kDepth = Shape::kDepth, kStages = Shape::kStages;
  static_assert(kWarps % Shape::kColumnGroups == 0 && kColumns % kDepth == 0);

  /// A stage of operands: the strip's rows and the diagonal block's.
  using Own = StagedRows<T, kStrip, kDepth, kSwapped, Shape::kBy>;
  using Top = StagedRows<T, kWidth, kDepth, kSwapped, Shape::kBy>;
  static constexpr int kStage = Own::kElements + Top::kElements;
  /// An eliminated part as an operand for the following parts: the strip's rows, and the diagonal
  /// block's rows except those of the first part.
  using OtherTop =
      StagedRows<T, kAllParts == 1 ? 1 : kWidth - kColumns, kDepth, kSwapped, Shape::kBy>;
  static constexpr int kPanel = Own::kElements * (kColumns / kDepth);
  static constexpr int kTopPanel = OtherTop::kElements * (kColumns / kDepth);

  /// Stages share memory with, later, a panel and a transpose buffer for every row of warps.
  static constexpr int kTurns = kPanel + kRowGroups * Rows::kScratch;
  static constexpr int kWork = kStages * kStage > kTurns ? kStages* kStage : kTurns;
  static constexpr size_t kBlockBytes = (sizeof(Block) + 15) / 16 * 16;
  static constexpr size_t kBytes =
      kAllParts * kBlockBytes + sizeof(T) * (size_t(kAllParts - 1) * kTopPanel + kWork);
};

template <class T, bool kSwapped, class Shape>
struct WideLeftLooking : WideLayout<T, kSwapped, Shape> {
  using Layout = WideLayout<T, kSwapped, Shape>;
  using Layout::kColumns;
  using typename Layout::Block;
  using typename Layout::OtherTop;
  using typename Layout::Own;
  using typename Layout::Product;
  using typename Layout::Rows;
  using typename Layout::Sums;
  using typename Layout::Top;
  static constexpr int kParts = Layout::kParts, kDepth = Layout::kDepth;

  LowerView<T> A;
  int n;
  bool aligned;
  unsigned char* blocks;
  T* top_panels;
  T* work;
  int thread, lane, row_group, column_group;

  __device__ __forceinline__ Block& block(int part) const {
    return *reinterpret_cast<Block*>(blocks + part * Layout::kBlockBytes);
  }
  __device__ __forceinline__ T* scratch() const {
    return work + Layout::kPanel + row_group * Rows::kScratch;
  }

  /// Adds to sums the product of the columns [0, before) of the strip at `row` and of the block
  /// column's rows at j. @param works whether this warp's sums are needed.
  template <Runs kRuns>
  __device__ __forceinline__ void multiply(Sums (&sums)[kParts], int row, int j, int before,
                                           bool works) const {
    constexpr int kStages = Layout::kStages;
    using OwnCopier = typename Own::template Copier<kRuns, true, Layout::kThreads>;
    using TopCopier = typename Top::template Copier<kRuns, true, Layout::kThreads>;
    OwnCopier own(A.at(row, 0), A.ld, n - row, thread);
    TopCopier top(A.at(j, 0), A.ld, n - j, thread);
    int copied = 0, to = 0, from = 0;
    const auto stage = [&] {
      T* const at = work + to * Layout::kStage;
      if (before - copied >= kDepth) {
        own.copy(at);
        top.copy(at + Own::kElements);
      } else if (copied < before) {
        own.copy_last(at, before - copied);
        top.copy_last(at + Own::kElements, before - copied);
      }
      close_copy_group();
      copied += kDepth;
      to = to + 1 == kStages ? 0 : to + 1;
    };
#pragma unroll
    for (int s = 0; s + 1 < kStages; ++s) stage();
#pragma unroll 1
    for (int k = 0; k < before; k += kDepth) {
      wait_for_copy_groups<kStages - 2>();
      __syncthreads();
      stage();
      const T* const at = work + from * Layout::kStage;
      if (works)
        Product::template multiply<kParts>(
            sums, Own::operand(at, 32 * row_group),
            Top::operand(at + Own::kElements, column_group * kParts * kColumns), lane);
      from = from + 1 == kStages ? 0 : from + 1;
    }
    __syncthreads();
  }

  /// Stores an eliminated part of the strip for the products of the following parts.
  __device__ __forceinline__ void keep(const Rows& rows, int part, int parts,
                                       int row_of_column) const {
    const int own_row = 32 * row_group + lane, top_row = row_of_column + lane - kColumns;
    T* const top = top_panels + part * Layout::kTopPanel;
    const bool of_top = top_row >= part * kColumns && top_row < (parts - 1) * kColumns;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      work[c / kDepth * Own::kElements + Own::index(own_row, c % kDepth)] = rows.a[c];
      if (of_top)
        top[c / kDepth * OtherTop::kElements + OtherTop::index(top_row, c % kDepth)] = rows.a[c];
    }
  }
  /// Adds to sums the product of an eliminated part of the strip and that of the diagonal block.
  __device__ __forceinline__ void multiply_part(Sums& sums, int part, int of_part) const {
    const T* const top = top_panels + of_part * Layout::kTopPanel;
#pragma unroll 1
    for (int c = 0; c < kColumns / kDepth; ++c)
      Product::template multiply<1>(
          &sums, Own::operand(work + c * Own::kElements, 32 * row_group),
          OtherTop::operand(top + c * OtherTop::kElements, (part - 1) * kColumns), lane);
  }

  /// Prefetches the lines of the strip from which this warp will subtract its sums.
  __device__ __forceinline__ void prefetch(int row, int j, int columns) const {
    constexpr int kLine = 128 / sizeof(T), kLength = kSwapped ? kColumns * kParts : 32;
    const int first = j + column_group * kParts * kColumns;
    const int width = min(columns - (first - j), kParts * kColumns), height = min(n - row, 32);
    const int lines = kSwapped ? height : width, length = kSwapped ? width : height;
#pragma unroll
    for (int line = 0; line < (kSwapped ? 32 : kColumns * kParts); line += 32)
      if (line + lane < lines) {
        const T* const p =
            kSwapped ? A.at(row + line + lane, first) : A.at(row, first + line + lane);
#pragma unroll
        for (int at = 0; at < kLength; at += kLine)
          if (at < length) prefetch_to_l2(p + at);
      }
  }

  /// Registers of the elimination: the same as the sums, if these have the same type.
  __device__ static __forceinline__ Rows& rows_of(Rows& sums, Rows&) { return sums; }
  template <class Other>
  __device__ static __forceinline__ Rows& rows_of(Other&, Rows& rows) {
    return rows;
  }

  /// Rows [row, row + kStrip) of the block column at j, of `parts` parts of `columns` columns.
  __device__ __forceinline__ void strip(int row, int j, int parts, int columns) const {
    const int own_row = row + 32 * row_group, below = own_row - j;  // below the diagonal's first
    const int first_part = column_group * kParts, rows_left = n - own_row;
    // Whether any of this warp's elements are in the triangle.
    const auto has = [&](int part) {
      return part < parts && rows_left > 0 && below + 31 >= part * kColumns;
    };
    const bool works = has(first_part);
    // Initial value and result of a product.
    Sums values[kParts] = {};
    if (!Product::kBeginsWithA && works) prefetch(own_row, j, parts * columns);
    if (j > 0) {
      if constexpr (Product::kBeginsWithA) {
#pragma unroll
        for (int p = 0; p < kParts; ++p) {
          const int before = (first_part + p) * kColumns;
          if (has(first_part + p))
            Product::begin(values[p], A.from(own_row, j + before),
                           {rows_left, columns, before - below, aligned}, lane);
        }
      }
      choose_runs<Rows::kWide, false>(aligned,
                                      [&]<Runs kRuns>(std::integral_constant<Runs, kRuns>) {
                                        multiply<kRuns>(values, row, j, j, works);
                                      });
    }
#pragma unroll
    for (int part = 0; part < Layout::kAllParts; ++part) {
      if (part >= parts) break;
      Rows own_rows;
      Rows& rows = rows_of(values[part % kParts], own_rows);
      const bool mine = part / kParts == column_group && has(part);
      const int diagonal = part * kColumns - below;
      const bool factors = mine && diagonal >= 0;
      const int diagonal_row = (lane - diagonal) & 31;
      Real<T> root{};
      const RowBlockPlace place{rows_left, columns, diagonal, aligned};
      const LowerView<T> here = A.from(own_row, j + part * kColumns);
      if (mine) {
        if (j > 0)
          Product::finish(rows, values[part % kParts], here, place, scratch(), lane);
        else
          rows.template load<kColumns>(here, place, scratch(), lane);
        if (factors)
          root = rows.template eliminate<kColumns, true, false>(block(part), columns, diagonal_row,
                                                                NothingAlong{}, diagonal);
      }
      __syncthreads();
      if (mine) {
        if (!factors) rows.template eliminate<kColumns, false, false>(block(part), columns, lane);
        if (part + 1 < parts) keep(rows, part, parts, below);
        rows.template store<kColumns>(here, place, scratch(), lane);
        if (factors) Rows::store_diagonal(here, columns, lane, diagonal_row, root);
      }
      if (part + 1 < parts) {
        __syncthreads();
#pragma unroll
        for (int p = 0; p < kParts; ++p)
          if (first_part + p > part && has(first_part + p))
            multiply_part(values[p], first_part + p, part);
      }
    }
  }
  /// @return the first column whose pivot is not positive and finite, or -1.
  __device__ __forceinline__ int block_column(int j, int parts, int columns) const {
#pragma unroll 1
    for (int row = j; row < n; row += Layout::kStrip) {
      strip(row, j, parts, columns);
      __syncthreads();
    }
    for (int part = 0; part < parts; ++part)
      if (block(part).bad >= 0) return j + part * kColumns + block(part).bad;
    return -1;
  }
};

template <class T, bool kSwapped, class Shape>
__global__ void __launch_bounds__(32 * Shape::kWarps, Shape::kBlocks)
    wide_left_looking_kernel(BatchProblem<T> problem) {
  using Matrix = WideLeftLooking<T, kSwapped, Shape>;
  constexpr int kColumns = Matrix::kColumns, kAllParts = Matrix::kAllParts;
  // A shuffle tells the compiler that the value is uniform over the warp.
  const int64_t b = __shfl_sync(kFullWarp, matrix_of_block(problem), 0);
  const int thread = threadIdx.x, warp = __shfl_sync(kFullWarp, thread / 32, 0);
  const int64_t order = problem.order(b);
  if (order <= 0) {
    if (order == 0 && thread == 0) problem.info[b] = 0;
    return;
  }
  const int n = static_cast<int>(order), narrow = (n - 1) % kColumns + 1;
  const LowerView<T> A{problem.A.matrix(b), problem.A.leading_dimension(b), kSwapped};
  const uint64_t offsets = (A.ld | narrow) * sizeof(T);

  extern __shared__ __align__(16) unsigned char shared[];
  unsigned char* const bytes = held_in_register(shared);
  T* const top_panels = reinterpret_cast<T*>(bytes + kAllParts * Matrix::kBlockBytes);
  const Matrix matrix{{},
                      A,
                      n,
                      ((reinterpret_cast<uint64_t>(A.a) | offsets) & 15) == 0,
                      bytes,
                      top_panels,
                      top_panels + (kAllParts - 1) * Matrix::kTopPanel,
                      thread,
                      thread % 32,
                      warp % Matrix::kRowGroups,
                      warp / Matrix::kRowGroups};
  int bad = -1, columns = narrow, parts = 1;
#pragma unroll 1
  for (int j = 0; j < n && bad < 0;) {
    bad = matrix.block_column(j, parts, columns);
    j += parts * columns;
    columns = kColumns;
    parts = (n - j) / kColumns % kAllParts;
    if (parts == 0) parts = kAllParts;
  }
  if (thread == 0) problem.info[matrix_of_block(problem)] = bad + 1;
}

}  // namespace chol::cuda
