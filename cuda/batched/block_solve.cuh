// Solves with the factors of a batch, all warps of a block on one matrix: the triangle in shared
// memory, read once for both sweeps, the right-hand sides in registers, 16 or 32 rows a warp. 16
// unknowns are found at a time, by the inverse of their diagonal block, which is worked out while
// the rest of the triangle arrives; so the chain through the unknowns has n / 16 links and not n.
// MAGMA too solves for batches by inverted diagonal blocks (Haidar, Dong, Luszczek, Tomov and
// Dongarra 2015); here neither they nor anything between the sweeps leaves the thread block.
#pragma once

#include <type_traits>

#include "batched/block_border.cuh"
#include "batched/block_plain_rows.cuh"
#include "batched/block_tensor_rows.cuh"
#include "batched/shapes.hpp"

namespace chol::cuda {

/// For one right-hand side, or for several.
template <class T, bool kOne>
using BlockSolveShapes =
    std::conditional_t<kOne, typename Shapes<T>::BlockSolveOne, typename Shapes<T>::BlockSolveMany>;
/// Largest order of these shapes.
template <class T, bool kOne>
constexpr int most_block_solve() {
  return []<class... Shape>(ShapeList<Shape...>) {
    return larger(Shape::kOrder...);
  }(BlockSolveShapes<T, kOne>{});
}

/// Calls body(shape) with the first shape for orders up to n, which is at most most_block_solve().
/// @param has_tensor whether the device multiplies what T is summed up in by tensor cores. @param
/// anywhere whether columns surely begin anywhere, where one right-hand side has other shapes.
/// @param bordered whether the last row is a border; for two blocks a warp it counts nonetheless.
template <class T, bool kOne, class Body>
void for_block_solve_shape(int64_t n, bool has_tensor, bool anywhere, bool bordered, Body&& body) {
  const auto serves = [&]<class Shape>(Shape) {
    const int64_t rows = n - (bordered && Shape::kWarpBlocks == 1);
    return Shape::kLeast <= n && rows <= Shape::kOrder &&
           (has_tensor || Shape::kBy != ProductBy::tensor);
  };
  const auto try_list = [&]<class... Shape>(ShapeList<Shape...>) {
    return ((serves(Shape{}) && (body(typename Shape::Shape{}), true)) || ...);
  };
  if constexpr (kOne)
    if (anywhere && try_list(typename Shapes<T>::BlockSolveOneAnywhere{})) return;
  try_list(BlockSolveShapes<T, kOne>{});
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

  /// By one warp of the group, before all of it meet.
  __device__ __forceinline__ void prepare_flags() const {
    if (x.lane >= x.L.blocks(x.L.n)) return;
    x.template is_solved<true>(x.lane).prepare();
    x.template is_solved<false>(x.lane).prepare();
  }

  /// A warp waits for the blocks before its own one after the other, and for nothing else: those
  /// that still update other rows are not in the way of the next block. Rows that are solved take
  /// the place of those of the sweep before: these were read by all whose own are solved by now.
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

/// What a block takes for a matrix.
template <class T, bool kSwapped, bool kOne, class Shape>
struct BlockSolveLayout {
  using Rows = BlockRows<T, kSwapped, kOne, Shape>;
  using Triangle = typename Rows::Triangle;
  static constexpr int threads(int n) {
    constexpr int kRows = Triangle::kOrder * Shape::kWarpBlocks;
    return (n + kRows - 1) / kRows * 32 * Shape::kGroups;
  }
  /// Elements of Exchange::solved.
  __host__ __device__ static constexpr int solved(int n) {
    return Rows::kPitch * Triangle::kOrder * Triangle::blocks(n);
  }
  static constexpr size_t bytes(int n) {
    return sizeof(T) * (Triangle::elements(n) + Shape::kGroups * solved(n));
  }
};

/// @tparam kBordered whether the last row is a border (block_border.cuh): of one right-hand side,
/// and where all orders are n.
template <class T, bool kSwapped, bool kOne, class Shape, bool kBordered>
__global__ void __launch_bounds__(
    BlockSolveLayout<T, kSwapped, kOne, Shape>::threads(Shape::kOrder), Shape::kBlocks)
    block_solve_kernel(BatchProblem<T> problem, int64_t columns_of_block) {
  using Layout = BlockSolveLayout<T, kSwapped, kOne, Shape>;
  using Rows = typename Layout::Rows;
  using Triangle = typename Layout::Triangle;
  const int64_t b = blockIdx.x, begin = blockIdx.y * columns_of_block;
  if (!problem.solves(b) || begin >= problem.rhs_count(b)) return;
  const int n = static_cast<int>(problem.order(b)) - kBordered, lane = threadIdx.x % 32;
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0), warps = blockDim.x / 32;
  const int of_group = warps / Shape::kGroups, group = warp / of_group;
  const LowerView<T> A = lower_view(problem, b);
  const RightHandSides<T> rhs{problem.B.matrix(b), problem.B.leading_dimension(b),
                              min(problem.rhs_count(b), begin + columns_of_block), n, kSwapped};
  extern __shared__ __align__(128) unsigned char shared[];
  const Triangle L{held_in_register(reinterpret_cast<T*>(shared)), n};
  T* const solved = L.data + Triangle::elements(n) + group * Layout::solved(n);
  const BlockSweeps<Rows, Shape::kWarpBlocks> sweeps{{L, solved, group, warp % of_group, lane}};

  Rows rows;
  const int64_t first = begin + group * Rows::kColumns;
  rows.load(rhs, sweeps.x, first);
  L.start_copies(A, warp, warps, lane);
  [[maybe_unused]] BlockBorder<T> border;
  if constexpr (kBordered) border.load(A, n, Rows::unknown(sweeps.x));
  if (warp % of_group == 0) sweeps.prepare_flags();
  wait_for_copy_groups<1>();
  __syncthreads();
  if (2 * warp < Triangle::blocks(n)) L.invert_diagonal(warp, lane);
  wait_for_copy_groups<0>();
  __syncthreads();
  unsigned phase = 0;
  for (int64_t column = first; column < rhs.columns; column += Shape::kGroups * Rows::kColumns) {
    if (column > first) rows.load(rhs, sweeps.x, column);
    if constexpr (kBordered) border.load_right_hand_side(rhs, column);
    sweeps.template sweep<true>(rows, phase);
    if constexpr (kBordered) border.pass(rows, rhs, sweeps.x, column, phase);
    sweeps.template sweep<false>(rows, phase);
    rows.store(rhs, sweeps.x, column);
    ++phase;
  }
}

}  // namespace chol::cuda
