// Left-looking factorization of a matrix of any order by one thread block in one launch. Block
// columns are updated from left to right with all columns to their left, factored, and written
// once. Panels of 32 rows are assigned cyclically to the warps, which synchronize only where the
// diagonal block, part of the first panel, is factored and at the end of the block column. The
// first block column takes the remainder of the order, so that all others are full.
#pragma once

#include <type_traits>

#include "batched/left_looking/block_index.cuh"
#include "batched/left_looking/bordering.cuh"
#include "batched/left_looking/fused_backward.cuh"
#include "batched/left_looking/fused_rhs.cuh"
#include "batched/left_looking/panel_update.cuh"
#include "common/programmatic_launch.cuh"

namespace chol::cuda {

template <int kWarps>
__device__ __forceinline__ void meet() {
  if constexpr (kWarps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// The work of the warps of a block on a matrix. @tparam kSolves whether one right-hand side is
/// solved for at the same time.
template <class T, bool kSwapped, class Shape, bool kSolves>
struct LeftLooking {
  static constexpr int kColumns = Shape::kColumns, kWarps = Shape::kWarps;
  using Rows = RowBlock<T, kColumns>;
  using Update = RowUpdate<T, kSwapped, Shape>;
  static constexpr bool kReadEarly = (Shape::kOptions & kSavesRegisters) == 0;
  using Block = DiagonalBlock<T, kColumns>;
  static constexpr size_t kBlockBytes = (sizeof(Block) + 15) / 16 * 16;
  using Solve = LeftLookingSolve<T, kColumns>;
  /// Elements of a warp. Backward substitution needs more than strips do; a border needs none.
  __host__ __device__ static constexpr int staging_elements(bool bordered) {
    return kSolves && !bordered ? larger(Update::kStaging, Solve::kScratch) : Update::kStaging;
  }
  /// Of shared memory, for orders up to n.
  static constexpr size_t bytes(int64_t n, bool bordered = false) {
    const auto entries =
        static_cast<size_t>(RightHandSide<T>::entries(int(n) - bordered, kColumns));
    const size_t entry = sizeof(T) + (bordered ? 0 : sizeof(Real<T>));
    return kBlockBytes + sizeof(T) * size_t(staging_elements(bordered)) * kWarps +
           (kSolves ? entries * entry : 0);
  }

  LowerView<T> A;
  int n;
  Block& block;
  T* staging;  ///< of the warp
  int warp, lane;
  bool aligned;
  RightHandSide<T> right_hand_side;
  Real<T>* inverses;  ///< of the diagonal, for backward substitution; null where there is none
  bool bordered;      ///< the right-hand side is the last row of the matrix

  /// Prefetches this warp's next strip while it still eliminates one: its elements, consecutive
  /// lanes along memory, and the first operands of its product. @return whether the latter were
  /// requested.
  __device__ __forceinline__ bool ask_for_next(int row, int j, int columns) const {
    const int before = j;
    row += 32 * kWarps;
    if (row >= n) {
      j += columns;
      row = j + 32 * warp;
      columns = kColumns;
      if (row >= n) return false;
    }
    constexpr int kLine = 128 / sizeof(T), kLength = kSwapped ? kColumns : 32;
    const int lines = kSwapped ? min(n - row, 32) : columns;
    const int length = kSwapped ? columns : n - row;
    if (lane < lines) {
      const T* const p = kSwapped ? A.at(row + lane, j) : A.at(row, j + lane);
#pragma unroll
      for (int at = 0; at < kLength; at += kLine)
        if (at < length) prefetch_to_l2(p + at);
    }
    // Finished columns.
    if (!Update::kStartsNext || before < Update::kDepth) return false;
    Update::start(A.from(row, 0), A.from(j, 0), {n - row, columns, row == j ? 0 : -32, aligned},
                  staging, lane);
    return true;
  }

  /// Block column [j, j + columns), at most kMost of them.
  /// @param started whether the first operands of the warp's first strip have been requested; on
  /// return, those of its next one.
  template <int kMost>
  __device__ __forceinline__ void block_column(int j, int columns, bool& started) const {
    const LowerView<T> top = A.from(j, 0);
#pragma unroll 1
    for (int strip = warp; strip == warp || j + 32 * strip < n; strip += kWarps) {
      const int row = j + 32 * strip;
      const RowBlockPlace place{n - row, columns, strip == 0 ? 0 : -32, aligned};
      const LowerView<T> here = A.from(row, j);
      Rows rows;
      if (row < n) {
        if (kMost < kColumns || j == 0)
          rows.template load<kMost>(here, place, staging + Update::kScratchAt, lane);
        else
          Update::run(rows, here, A.from(row, 0), top, place, j, started, staging, lane);
        started = ask_for_next(row, j, columns);
      }
      // The strip with the diagonal block first, the others after it is published.
      Real<T> root{};
      if (strip == 0) root = eliminate_first<kMost>(rows, place, j);
      if (strip == warp) meet<kWarps>();
      if (strip > 0 && row < n) {
        rows.template eliminate<kMost, false, kReadEarly>(block, columns, lane);
        if constexpr (kSolves)
          right_hand_side.template eliminate_below<kMost>(rows, place, j, row, lane);
      }
      if (row < n) rows.template store<kMost>(here, place, staging + Update::kScratchAt, lane);
      if (strip == 0) Rows::store_diagonal(here, columns, lane, lane, root);
    }
  }

 private:
  template <int kMost>
  __device__ __forceinline__ Real<T> eliminate_first(Rows& rows, const RowBlockPlace& place,
                                                     int j) const {
    if constexpr (!kSolves) {
      return rows.template eliminate<kMost, true, kReadEarly>(block, place.columns, lane);
    } else {
      if (bordered && j == 0) Border<T>{A, n}.conjugate(right_hand_side.x, lane);
      const Real<T> root =
          right_hand_side.template eliminate_first<kMost, kReadEarly>(rows, block, place, j, lane);
      if (!bordered && lane < place.columns) inverses[j + lane] = block.inverse_roots[lane];
      return root;
    }
  }
};

/// Shapes with a kernel that also solves: those for devices with full double precision rate, where
/// it is faster.
template <class Shape>
inline constexpr bool kSolvesAlong = Shape::kBy == ProductBy::tensor;

template <class T, bool kSwapped, class Shape, bool kSolves>
__global__ void __launch_bounds__(32 * Shape::kWarps, Shape::kBlocks)
    left_looking_kernel(BatchProblem<T> problem, bool bordered) {
  using Matrix = LeftLooking<T, kSwapped, Shape, kSolves>;
  constexpr int kColumns = Matrix::kColumns, kWarps = Shape::kWarps;
  wait_for_kernels_before();
  // A shuffle tells the compiler that the value is uniform over the warp.
  const int64_t b = __shfl_sync(kFullWarp, matrix_of_block(problem), 0);
  const int thread = threadIdx.x;
  const int warp = kWarps == 1 ? 0 : __shfl_sync(kFullWarp, thread / 32, 0);
  const int64_t order = problem.order(b);
  if (order <= 0) {
    if (order == 0 && thread == 0) problem.info[b] = 0;
    return;
  }
  const int n = static_cast<int>(order) - (kSolves && bordered);
  const int narrow = (n - 1) % kColumns + 1;
  const LowerView<T> A{problem.A.matrix(b), problem.A.leading_dimension(b), kSwapped};
  const uint64_t offsets = (A.ld | narrow) * sizeof(T);

  extern __shared__ __align__(16) unsigned char shared[];
  unsigned char* const bytes = Matrix::Rows::kFillsRegisters ? shared : held_in_register(shared);
  auto& block = *reinterpret_cast<typename Matrix::Block*>(bytes);
  T* const staging = reinterpret_cast<T*>(bytes + Matrix::kBlockBytes);
  const int staging_elements = Matrix::staging_elements(bordered);
  T* const x = staging + kWarps * staging_elements;
  Real<T>* const inverses = reinterpret_cast<Real<T>*>(x + RightHandSide<T>::entries(n, kColumns));
  const Matrix matrix{A,
                      n,
                      block,
                      staging + warp * staging_elements,
                      warp,
                      thread % 32,
                      ((reinterpret_cast<uint64_t>(A.a) | offsets) & 15) == 0,
                      {x},
                      inverses,
                      bordered};
  if constexpr (kSolves) {
    if (bordered) {
      if (warp == 0) Border<T>{A, n}.start_copies(x, matrix.lane);
    } else {
      const T* const B = problem.B.matrix(b);
      if (problem.rhs_count(b) > 0)
        for (int i = thread; i < n; i += 32 * kWarps) x[i] = conj_if(kSwapped, B[i]);
      meet<kWarps>();
    }
  }

  int columns = narrow;
  bool started = false;
#pragma unroll 1
  for (int j = 0; j < n; j += columns, columns = kColumns) {
    if (columns <= 8)
      matrix.template block_column<8>(j, columns, started);
    else
      matrix.template block_column<kColumns>(j, columns, started);
    const int bad = block.bad;
    meet<kWarps>();
    if (bad >= 0) {
      wait_for_copy_groups<0>();  // of a strip that does not exist
      if (kSolves && bordered && warp == 0) Border<T>{A, n}.store(x, j + bad, matrix.lane);
      if (thread == 0) problem.info[matrix_of_block(problem)] = j + bad + 1;
      return;
    }
  }
  if constexpr (kSolves) {
    if (bordered) {
      if (warp > 0) return;
      const bool is_whole = Border<T>{A, n}.finish(x, matrix.lane);
      if (thread == 0) problem.info[matrix_of_block(problem)] = is_whole ? 0 : n + 1;
      return;
    }
  }
  if (thread == 0) problem.info[matrix_of_block(problem)] = 0;
  if constexpr (kSolves) {
    const int64_t its = matrix_of_block(problem);
    if (problem.rhs_count(its) <= 0) return;
    if (warp == 0) {
      const typename Matrix::Solve solve{A, n, x, inverses, staging, matrix.lane, matrix.aligned};
      solve.backward();
    }
    meet<kWarps>();
    T* const B = problem.B.matrix(its);
    for (int i = thread; i < n; i += 32 * kWarps) B[i] = conj_if(kSwapped, x[i]);
  }
}

}  // namespace chol::cuda
