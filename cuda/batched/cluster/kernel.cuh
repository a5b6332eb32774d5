// Left-looking factorization (left_looking/kernel.cuh) by one thread block cluster a matrix, for
// batches of fewer matrices than the device has multiprocessors. Row panels of 32 rows are assigned
// cyclically to the warps of all blocks. Each block factors the diagonal block redundantly and
// keeps it in shared memory; one block writes it, once all blocks have read its operands.
//
// The bits are those of the kernel for larger batches, left_looking/kernel.cuh or
// multi_panel/kernel.cuh: the block columns, the order of the products, and the rows
// that are divided by the pivot before its square root is known are the same.
#pragma once

#include "batched/left_looking/panel_update.cuh"
#include "common/cluster.cuh"

namespace chol::cuda {

/// The work of one warp of a cluster on a matrix.
template <class T, bool kSwapped, class Shape>
struct ClusterLeftLooking {
  static constexpr int kColumns = Shape::kColumns, kWarps = Shape::kWarps;
  static_assert((Shape::kOptions & kStartsNext) == 0);
  using Rows = RowBlock<T, kColumns>;
  using Update = RowUpdate<T, kSwapped, Shape>;
  static constexpr bool kReadEarly = (Shape::kOptions & kSavesRegisters) == 0;
  using Block = DiagonalBlock<T, kColumns>;
  static constexpr size_t kBlockBytes = (sizeof(Block) + 15) / 16 * 16;
  /// Of shared memory.
  static constexpr size_t kBytes = kBlockBytes + sizeof(T) * size_t(Update::kStaging) * kWarps;

  LowerView<T> A;
  int n;
  Block& block;
  T* staging;  ///< of the warp
  int warp, lane, rank, blocks;
  bool aligned;

  /// Whether block columns form pairs, as in multi_panel/kernel.cuh, aligned such that the last one
  /// ends a pair.
  bool paired;

  /// Whether a block column is the second one of a pair.
  __device__ __forceinline__ bool is_second(int j) const {
    return kColumns == 16 && paired && j > 16 && (n - j) / kColumns % 2 == 1;
  }
  /// Rows of a strip of the block column at j: half as many where there are enough warps, since all
  /// warps wait for the product of one strip.
  __device__ __forceinline__ int strip_rows(int j) const {
    return kColumns == 16 && n - j <= 16 * kWarps * blocks ? 16 : 32;
  }
  /// Rows of the strip that contains the diagonal block. Rows beyond the diagonal block are divided
  /// by its pivots.
  __device__ __forceinline__ int first_rows(int j) const {
    return kColumns == 16 && is_second(j) ? 16 : strip_rows(j);
  }
  __device__ __forceinline__ int row_of(int strip, int j) const {
    return strip == 0 ? j : j + first_rows(j) + strip_rows(j) * (strip - 1);
  }
  /// The strips of this warp: the strip of the diagonal block belongs to the first warp of every
  /// block, the others are assigned cyclically over the blocks.
  __device__ __forceinline__ int first_strip() const {
    return warp == 0 ? 0 : 1 + (warp - 1) * blocks + rank;
  }
  __device__ __forceinline__ int next_strip(int strip) const {
    return strip == 0 ? 1 + (kWarps - 1) * blocks + rank : strip + kWarps * blocks;
  }

  /// Prefetches the elements of this warp's next strip, consecutive lanes along memory.
  __device__ __forceinline__ void ask_for_next(int strip, int j, int columns) const {
    int row = row_of(next_strip(strip), j);
    if (row >= n) {
      j += columns;
      row = row_of(first_strip(), j);
      if (row >= n) return;
    }
    constexpr int kLine = 128 / sizeof(T), kLength = kSwapped ? kColumns : 32;
    const int lines = kSwapped ? min(n - row, 32) : kColumns;
    const int length = kSwapped ? kColumns : n - row;
    if (lane >= lines) return;
    const T* const p = kSwapped ? A.at(row + lane, j) : A.at(row, j + lane);
#pragma unroll
    for (int at = 0; at < kLength; at += kLine)
      if (at < length) prefetch_to_l2(p + at);
  }

  /// Block column [j, j + columns), at most kMost of them.
  template <int kMost>
  __device__ __forceinline__ void block_column(int j, int columns) const {
    const LowerView<T> top = A.from(j, 0);
    const int first = first_strip(), middle = is_second(j) ? j - kColumns : j;
    const bool divides_next = kColumns == 16 && strip_rows(j) == 16 && !is_second(j);
#pragma unroll 1
    for (int strip = first; strip == first || row_of(strip, j) < n; strip = next_strip(strip)) {
      const int row = row_of(strip, j), height = strip == 0 ? first_rows(j) : strip_rows(j);
      const RowBlockPlace place{min(n - row, height), columns, strip == 0 ? 0 : -32, aligned};
      const LowerView<T> here = A.from(row, j);
      Rows rows;
      if (row < n) {
        if (kMost < kColumns || j == 0)
          rows.template load<kMost>(here, place, staging, lane);
        else if constexpr (kColumns == 16)
          Update::run_in_parts(rows, here, A.from(row, 0), top, place, middle, j, false, staging,
                               lane);
        else
          Update::run(rows, here, A.from(row, 0), top, place, j, false, staging, lane);
        ask_for_next(strip, j, columns);
      }
      Real<T> root{};
      if (strip == 0) root = rows.template eliminate<kMost, true, kReadEarly>(block, columns, lane);
      if (strip == first) meet_in_cluster();
      if (row >= n || (strip == 0 && rank > 0)) continue;
      if (strip == 1 && divides_next)
        rows.template eliminate_by_pivots<kMost>(block, columns);
      else if (strip > 0)
        rows.template eliminate<kMost, false, kReadEarly>(block, columns, lane);
      rows.template store<kMost>(here, place, staging, lane);
      if (strip == 0) Rows::store_diagonal(here, columns, lane, lane, root);
    }
  }
};

template <class T, bool kSwapped, class Shape>
__global__ void __launch_bounds__(32 * Shape::kWarps, Shape::kBlocks)
    cluster_left_looking_kernel(BatchProblem<T> problem, bool paired) {
  using Matrix = ClusterLeftLooking<T, kSwapped, Shape>;
  constexpr int kColumns = Matrix::kColumns;
  const int rank = static_cast<int>(cluster_rank()), blocks = static_cast<int>(cluster_blocks());
  const unsigned position = blockIdx.x / blocks;
  const int64_t b = problem.sequence ? problem.sequence[position] : position;
  // A shuffle tells the compiler that the value is uniform over the warp.
  const int thread = threadIdx.x, warp = __shfl_sync(kFullWarp, thread / 32, 0);
  const bool reports = rank == 0 && thread == 0;
  const int64_t order = problem.order(b);
  if (order <= 0) {
    if (order == 0 && reports) problem.info[b] = 0;
    return;
  }
  const int n = static_cast<int>(order), narrow = (n - 1) % kColumns + 1;
  const LowerView<T> A{problem.A.matrix(b), problem.A.leading_dimension(b), kSwapped};
  const uint64_t offsets = (A.ld | narrow) * sizeof(T);

  extern __shared__ __align__(16) unsigned char shared[];
  unsigned char* const bytes = held_in_register(own_shared(shared));
  const Matrix matrix{
      A,
      n,
      *reinterpret_cast<typename Matrix::Block*>(bytes),
      reinterpret_cast<T*>(bytes + Matrix::kBlockBytes) + warp * Matrix::Update::kStaging,
      warp,
      thread % 32,
      rank,
      blocks,
      ((reinterpret_cast<uint64_t>(A.a) | offsets) & 15) == 0,
      paired};
  int columns = narrow, bad = -1;
#pragma unroll 1
  for (int j = 0; j < n && bad < 0; j += columns, columns = kColumns) {
    if (columns <= 8)
      matrix.template block_column<8>(j, columns);
    else
      matrix.template block_column<kColumns>(j, columns);
    // All blocks compute the same result.
    if (matrix.block.bad >= 0) bad = j + matrix.block.bad;
    meet_in_cluster();
  }
  if (reports) problem.info[b] = bad + 1;
}

}  // namespace chol::cuda
