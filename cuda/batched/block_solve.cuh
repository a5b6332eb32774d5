// Solves with the factors of a batch, all warps of a block on one matrix: the triangle in shared
// memory, read once for both sweeps, the right-hand sides in registers, 16 or 32 rows a warp. 16
// unknowns are found at a time, by the inverse of their diagonal block, which is worked out while
// the rest of the triangle arrives; so the chain through the unknowns has n / 16 links and not n.
// MAGMA too solves for batches by inverted diagonal blocks (Haidar, Dong, Luszczek, Tomov and
// Dongarra 2015); here neither they nor anything between the sweeps leaves the thread block.
#pragma once

#include <type_traits>

#include "batched/block_plain_rows.cuh"
#include "batched/block_tensor_rows.cuh"

namespace chol::cuda {

/// For one right-hand side, or for several.
template <class T, bool kSwapped, bool kOne, int kWarpBlocks>
using BlockRows = std::conditional_t<
    kOne, RowOfLane<T, kSwapped, kWarpBlocks>,
    std::conditional_t<sizeof(Real<T>) == 8, TensorRows<T, kSwapped, kWarpBlocks>,
                       PlainRows<T, kSwapped, kWarpBlocks>>>;

template <class Rows, int kWarpBlocks>
struct BlockSweeps {
  using Exchange = typename Rows::Exchange;
  using Triangle = typename Rows::Triangle;
  Exchange x;

  template <bool kForward>
  __device__ __forceinline__ void sweep(Rows& rows) const {
    const int blocks = x.L.blocks(x.L.n);
#pragma unroll 1
    for (int step = 0; step < blocks; ++step) {
      const int block = kForward ? step : blocks - 1 - step;
      const int first = kWarpBlocks * x.warp, last = first + kWarpBlocks - 1;
      // Nobody reads what the last step finds: the next sweep puts its own there without a barrier.
      const bool goes_on =
          step + 1 < blocks && (kForward ? last > block && first < blocks : first < block);
      if (x.warp == block / kWarpBlocks) rows.template solve<kForward>(x, block);
      if (goes_on) rows.template prepare<kForward>(x, block);
      __syncthreads();
      if (goes_on) rows.template update<kForward>(x, block);
    }
  }
};

inline constexpr int kMostBlockSolve = 128;  ///< order
/// Orders up to which a warp has the rows of two diagonal blocks, which leaves less to do twice;
/// above, of one, which makes the chain shorter.
template <class T, bool kOne>
inline constexpr int kTwoBlocksOrder = [] {
  if (sizeof(T) == 4) return kMostBlockSolve;
  if (!kOne && Traits<T>::is_complex) return 0;
  return sizeof(T) == 8 ? 96 : 80;
}();

/// Calls body(blocks) with the diagonal blocks of a warp for orders up to n.
template <class T, bool kOne, class Body>
auto for_warp_blocks(int64_t n, Body&& body) {
  constexpr int kTwo = kTwoBlocksOrder<T, kOne>;
  if constexpr (kTwo < kMostBlockSolve)
    if (n > kTwo) return body(std::integral_constant<int, 1>{});
  return body(std::integral_constant < int, kTwo == 0 ? 1 : 2 > {});
}

template <class T, bool kSwapped, bool kOne, int kWarpBlocks>
struct BlockSolveShape {
  using Rows = BlockRows<T, kSwapped, kOne, kWarpBlocks>;
  using Triangle = typename Rows::Triangle;
  static constexpr int threads(int n) {
    constexpr int kRows = Triangle::kOrder * kWarpBlocks;
    return (n + kRows - 1) / kRows * 32;
  }
  static constexpr size_t bytes(int n) {
    constexpr int kOrder = Triangle::kOrder;
    return sizeof(T) * (Triangle::elements(n) + Rows::kPitch * kOrder * Triangle::blocks(n));
  }
  /// Blocks that a multiprocessor has room for, or warps enough.
  static constexpr int kBlocks =
      larger(1, smaller(int(size_t(228 * 1024) / (bytes(kMostBlockSolve) + 1024)),
                        768 / threads(kMostBlockSolve)));
};

template <class T, bool kSwapped, bool kOne, int kWarpBlocks>
__global__ void __launch_bounds__(
    BlockSolveShape<T, kSwapped, kOne, kWarpBlocks>::threads(kMostBlockSolve),
    BlockSolveShape<T, kSwapped, kOne, kWarpBlocks>::kBlocks)
    block_solve_kernel(BatchProblem<T> problem, int64_t columns_of_block) {
  using Shape = BlockSolveShape<T, kSwapped, kOne, kWarpBlocks>;
  using Rows = typename Shape::Rows;
  using Triangle = typename Shape::Triangle;
  const int64_t b = blockIdx.x, begin = blockIdx.y * columns_of_block;
  if (!problem.solves(b) || begin >= problem.rhs_count(b)) return;
  const int n = static_cast<int>(problem.order(b)), lane = threadIdx.x % 32;
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0);
  const LowerView<T> A = lower_view(problem, b);
  const RightHandSides<T> rhs{problem.B.matrix(b), problem.B.leading_dimension(b),
                              min(problem.rhs_count(b), begin + columns_of_block), n, kSwapped};
  extern __shared__ __align__(128) unsigned char shared[];
  const Triangle L{reinterpret_cast<T*>(shared), n};
  const BlockSweeps<Rows, kWarpBlocks> sweeps{{L, L.data + Triangle::elements(n), warp, lane}};

  Rows rows;
  rows.load(rhs, sweeps.x, begin);
  L.start_copies(A, warp, blockDim.x / 32, lane);
  wait_for_copy_groups<1>();
  __syncthreads();
  if (2 * warp < Triangle::blocks(n)) L.invert_diagonal(warp, lane);
  wait_for_copy_groups<0>();
  __syncthreads();
  for (int64_t column = begin; column < rhs.columns; column += Rows::kColumns) {
    if (column > begin) rows.load(rhs, sweeps.x, column);
    sweeps.template sweep<true>(rows);
    sweeps.template sweep<false>(rows);
    rows.store(rhs, sweeps.x, column);
  }
}

}  // namespace chol::cuda
