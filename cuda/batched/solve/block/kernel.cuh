// Solves with the factors of a batch, one thread block a matrix: the triangle in shared memory,
// read once for both substitutions, the right-hand sides in registers, 16 or 32 rows a warp. 16
// unknowns are solved for at a time, by the inverse of their diagonal block, computed while the
// rest of the triangle arrives; the dependency chain has n / 16 steps instead of n. MAGMA also
// solves batches by inverted diagonal blocks (Haidar, Dong, Luszczek, Tomov and Dongarra 2015);
// here the blocks and the intermediate vectors stay in shared memory and registers.
#pragma once

#include <climits>
#include <type_traits>

#include "batched/solve/block/bordering.cuh"
#include "batched/solve/block/register_columns.cuh"
#include "batched/solve/block/rhs_fma.cuh"
#include "batched/solve/block/rhs_mma.cuh"
#include "batched/solve/block/shapes.hpp"

namespace chol::cuda {

/// Calls body(shape) with the kernel of those parameters; returns whether it is built.
template <class T, bool kOne, class Body>
bool for_block_solve_shape(const BlockSolveParams& params, Body&& body) {
  return [&]<class... Shape>(ShapeList<Shape...>) {
    return ((Shape::kParams == params && (body(Shape{}), true)) || ...);
  }(BlockSolveShapes<T, kOne>{});
}

template <class T, bool kSwapped, bool kOne, class Shape>
using BlockRows = std::conditional_t<
    kOne, RowOfLane<T, kSwapped, Shape::kWarpBlocks>,
    std::conditional_t<Shape::kBy == ProductBy::tensor,
                       TensorRows<T, kSwapped, Shape::kWarpBlocks, Shape::kColumns>,
                       PlainRows<T, kSwapped, Shape::kWarpBlocks, Shape::kColumns>>>;

template <class Rows, int kWarpBlocks>
struct BlockSweeps {
  using Exchange = typename Rows::Exchange;
  using Triangle = typename Rows::Triangle;
  Exchange x;

  /// Called by one warp of the group, before all of them synchronize.
  __device__ __forceinline__ void init_progress() const {
    if (x.lane >= x.L.blocks(x.L.n)) return;
    x.template is_solved<true>(x.lane).prepare();
    x.template is_solved<false>(x.lane).prepare();
  }

  /// A warp waits for the previous blocks one after the other, and for nothing else: a block that
  /// still updates other rows does not delay the next one. Solved rows overwrite those of the
  /// previous sweep, which all warps with solved rows have read.
  /// @param phase counts sweeps in that direction.
  template <bool kForward>
  __device__ __forceinline__ void sweep(Rows& rows, unsigned phase) const {
    const int blocks = x.L.blocks(x.L.n);
    const int first = kWarpBlocks * x.warp, last = first + kWarpBlocks - 1;
#pragma unroll 1
    for (int step = 0; step < blocks; ++step) {
      const int block = kForward ? step : blocks - 1 - step;
      const bool is_own = x.warp == block / kWarpBlocks;
      const bool goes_on =
          step + 1 < blocks && (kForward ? last > block && first < blocks : first < block);
      if (is_own) {
        rows.template solve<kForward>(x, block);
        __syncwarp();
        x.template is_solved<kForward>(block).raise(phase);
      }
      if (!goes_on) break;
      rows.template prepare<kForward>(x, block);
      if (!is_own) x.template is_solved<kForward>(block).wait(phase);
      rows.template update<kForward>(x, block);
    }
  }
};

/// Shared memory of a block for a matrix.
template <class T, bool kSwapped, bool kOne, class Shape>
struct BlockSolveLayout {
  using Rows = BlockRows<T, kSwapped, kOne, Shape>;
  using Triangle = typename Rows::Triangle;
  using Exchange = typename Rows::Exchange;
  using Parts = BlockParts<Exchange>;
  static constexpr int kHeld = Shape::kHeld;
  static_assert(kHeld == 0 || (kOne && Shape::kWarpBlocks == 1 && Shape::kGroups == 1));
  static constexpr int threads(int n) {
    constexpr int kRows = Triangle::kOrder * Shape::kWarpBlocks;
    return (n + kRows - 1) / kRows * 32 * Shape::kGroups;
  }
  /// Number of rows of the head.
  __host__ __device__ static constexpr int head(int n) {
    constexpr int kMost = Triangle::kOrder * kHeld;
    return kMost > 0 && n < kMost ? n : kMost;
  }
  /// Elements of both triangles.
  __host__ __device__ static constexpr int triangles(int n) {
    return Triangle::elements(head(n)) + Triangle::elements(n - head(n));
  }
  /// Elements of Exchange::solved, and of the data passed from tail to head.
  __host__ __device__ static constexpr int solved(int n) {
    return Triangle::kOrder *
           (Rows::kPitch * Triangle::blocks(n) + kHeld * Triangle::blocks(n - head(n)));
  }
  static constexpr size_t bytes(int n) {
    return sizeof(T) * (triangles(n) + Shape::kGroups * solved(n));
  }
  /// @param warp of the group.
  __device__ static __forceinline__ Parts parts(T* data, int n, int group, int warp, int lane) {
    T* const rows = data + triangles(n) + group * solved(n);
    const int rows_of_head = head(n), behind = Triangle::elements(rows_of_head);
    const Exchange of_head{{data, rows_of_head}, rows, group, warp, lane};
    const Exchange of_tail{{data + behind, n - rows_of_head},
                           rows + Rows::kPitch * rows_of_head,
                           group,
                           warp - kHeld,
                           lane};
    const bool is_tail = kHeld == 0 || warp >= kHeld;
    return {of_head, of_tail, is_tail, is_tail ? of_tail : of_head};
  }
};

/// @tparam kBordered whether the last row is a border (solve/block/bordering.cuh): for one
/// right-hand side, and if all orders are n.
template <class T, bool kSwapped, bool kOne, class Shape, bool kBordered>
__global__ void __launch_bounds__(
    BlockSolveLayout<T, kSwapped, kOne, Shape>::threads(Shape::kOrder), Shape::kBlocks)
    block_solve_kernel(BatchProblem<T> problem, int64_t columns_of_block) {
  using Layout = BlockSolveLayout<T, kSwapped, kOne, Shape>;
  using Rows = typename Layout::Rows;
  constexpr int kHeld = Shape::kHeld;
  const int64_t b = blockIdx.x, begin = blockIdx.y * columns_of_block;
  if (!problem.solves(b) || begin >= problem.rhs_count(b)) return;
  const int n = static_cast<int>(problem.order(b)) - kBordered, lane = threadIdx.x % 32;
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0), warps = blockDim.x / 32;
  const int of_group = warps / Shape::kGroups, group = warp / of_group;
  const LowerView<T> A = lower_view(problem, b);
  const RightHandSides<T> rhs{problem.B.matrix(b), problem.B.leading_dimension(b),
                              min(problem.rhs_count(b), begin + columns_of_block), n, kSwapped};
  extern __shared__ __align__(128) unsigned char shared[];
  const auto parts = Layout::parts(held_in_register(reinterpret_cast<T*>(shared)), n, group,
                                   warp % of_group, lane);
  const BlockSweeps<Rows, Shape::kWarpBlocks> sweeps{parts.own};
  const auto& x = sweeps.x;
  const int first_row = parts.first_row(), blocks = x.L.blocks(x.L.n);
  const RightHandSides<T> own_rhs{rhs.B + first_row, rhs.ldb, rhs.columns, x.L.n, kSwapped};
  // All groups prepare one triangle; head and tail, of one group, prepare one each.
  const int preparer = kHeld > 0 ? x.warp : warp;
  const int preparers = kHeld == 0 ? warps : parts.of_tail ? warps - kHeld : kHeld;
  const bool inverts = 2 * preparer < blocks;

  Rows rows;
  const int64_t first = begin + group * Rows::kColumns;
  rows.load(own_rhs, x, first);
  // Held columns are loaded after the inversion, which needs the registers.
  [[maybe_unused]] HeldBlocks<T, kSwapped, kHeld> held;
  if (!inverts) held.load(A, parts);
  x.L.start_copies(A.from(first_row, first_row), preparer, preparers, lane);
  [[maybe_unused]] BlockBorder<T> border;
  if constexpr (kBordered)
    border.load(A, n, Rows::is_first(x) ? first_row + Rows::row(x) : INT_MAX);
  if (x.warp == 0) {
    sweeps.init_progress();
    held.init_progress(parts);
  }
  wait_for_copy_groups<1>();
  __syncthreads();
  if (inverts) {
    x.L.invert_diagonal(preparer, lane);
    held.load(A, parts);
  }
  wait_for_copy_groups<0>();
  __syncthreads();
  unsigned phase = 0;
  for (int64_t column = first; column < rhs.columns; column += Shape::kGroups * Rows::kColumns) {
    if (column > first) rows.load(own_rhs, x, column);
    if constexpr (kBordered) border.load_right_hand_side(rhs, column);
    held.begin_forward(rows, parts, phase);
    sweeps.template sweep<true>(rows, phase);
    if constexpr (kBordered) border.template pass<kHeld>(rows, rhs, parts, column, phase);
    held.begin_backward(rows, parts, phase);
    sweeps.template sweep<false>(rows, phase);
    held.end_backward(parts, phase);
    rows.store(own_rhs, x, column);
    ++phase;
  }
}

}  // namespace chol::cuda
