// Left-looking solves whose triangles need not fit shared memory, one thread block a matrix. A warp
// takes the next 16 rows, subtracts the product of the factor with the rows already solved, and
// solves by the inverse of the diagonal block. The factor is read from memory to registers, as an
// operand of the tensor cores, one block ahead of its use; only solved rows are in shared memory,
// and one mbarrier a warp signals progress, so that a warp waits only for the rows that it needs
// next.
#pragma once

#include <type_traits>

#include "batched/solve/invert_diagonal_block.cuh"
#include "batched/solve/rhs_block_mma.cuh"
#include "common/cp_async.cuh"
#include "common/mbarrier.cuh"

namespace chol::cuda {

/// A block of kWarps warps, of which kBlocks share a multiprocessor, and the number of blocks of
/// the factor in flight to a warp.
template <int kWarpCount, int kBlockCount, int kAheadCount>
struct TensorSolveShape {
  static constexpr int kWarps = kWarpCount, kThreads = 32 * kWarps, kBlocks = kBlockCount;
  static constexpr int kAhead = kAheadCount;
};
/// Many small thread blocks while shared memory suffices, since warps of one block wait for each
/// other, then large ones.
template <class T>
using SmallTensorSolve = std::conditional_t<std::is_same_v<T, Complex<float>>,
                                            TensorSolveShape<4, 6, 1>, TensorSolveShape<4, 4, 2>>;
using LargeTensorSolve = TensorSolveShape<8, 2, 2>;
/// Right-hand sides of a block, which reads the triangle for all of them.
template <class T>
inline constexpr int kTensorSolveColumns = Traits<T>::is_complex ? 8 : 16;

/// An element of either half of the rows, for each step of a product.
template <class T>
struct TensorOperand {
  static constexpr int kSteps = 4;
  T e[kSteps][2];
};

/// The inverses of the diagonal blocks in shared memory: two are stored in one rectangle, the
/// second transposed and shifted by a column.
template <class T>
struct InvertedDiagonal {
  static constexpr int kOrder = 16, kPitch = kOrder + 1;
  T* data;

  __host__ __device__ static constexpr int elements(int blocks) {
    return (blocks + 1) / 2 * kOrder * kPitch;
  }
  /// Column j <= row i.
  __device__ __forceinline__ T& at(int block, int i, int j) const {
    return data[block / 2 * kOrder * kPitch + (block % 2 ? j * kPitch + i + 1 : i * kPitch + j)];
  }
  /// Starts to copy diagonal blocks `block` and `block` + 1 of A, by a warp. Rows outside the
  /// matrix become zero.
  __device__ __forceinline__ void start_copy(const LowerView<T>& A, int n, int block,
                                             int lane) const {
    const int own = block + lane / kOrder, c = lane % kOrder, first = kOrder * own;
#pragma unroll
    for (int s = 0; s < kOrder; ++s) {
      const int i = A.swapped ? s : c, j = A.swapped ? c : s;
      if (j > i) continue;
      if (first + i < n)
        copy_async<sizeof(T)>(&at(own, i, j), A.at(first + i, first + j));
      else
        at(own, i, j) = from_real<T>(0);
    }
  }
  /// Inverts these two: a lane has a column of either.
  __device__ __forceinline__ void invert(int n, int block, int lane) const {
    const int own = block + lane / kOrder, c = lane % kOrder, first = kOrder * own;
    const Real<T> pivot = first + c < n ? Real<T>(1) / real(at(own, c, c)) : Real<T>(0);
    T x[kOrder];
    inverse_column<false>(x, c, pivot, [&](T(&to)[kOrder], int s) {
#pragma unroll
      for (int r = s + 1; r < kOrder; ++r) to[r] = at(own, r, s);
    });
    __syncwarp();
#pragma unroll
    for (int r = 0; r < kOrder; ++r)
      if (c <= r) at(own, r, c) = x[r];
  }
  template <bool kForward>
  __device__ __forceinline__ TensorOperand<T> operand(int block, int lane) const {
    TensorOperand<T> operand;
#pragma unroll
    for (int step = 0; step < TensorOperand<T>::kSteps; ++step)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = 8 * half + lane / 4, k = 4 * step + lane % 4;
        const bool is_inside = kForward ? k <= r : r <= k;
        T& e = operand.e[step][half];
        e = from_real<T>(0);
        if (is_inside) e = kForward ? at(block, r, k) : conj(at(block, k, r));
      }
    return operand;
  }
};

/// Rows of right-hand sides in shared memory. Four rows are read for a product without bank
/// conflicts: positions are rotated from row to row.
template <class Sum, int kColumns>
struct SharedRows {
  Sum* data;
  __device__ __forceinline__ Sum& at(int row, int column) const {
    constexpr int kTurn = 32 / sizeof(Sum);
    return data[kColumns * row + (column ^ kTurn * (row % 4))];
  }
};

/// The blocks of op(L) that a warp takes in a sweep: those before its rows, from the first one that
/// is solved on; where op is the conjugate transpose in the backward sweep. Several blocks are in
/// flight: block t of a block row goes to buffer t mod kAhead; after the last one of the row for
/// that buffer follows the first one of the warp's next row.
template <class T, bool kSwapped, bool kForward, class Shape>
struct OperandStream {
  static constexpr int kOrder = 16, kWarps = Shape::kWarps, kAhead = Shape::kAhead;
  LowerView<T> A;
  int n, blocks, lane;
  int64_t row_step, column_step;
  TensorOperand<T> places[kAhead];

  /// @param step position of the warp's first rows in the sweep.
  __device__ __forceinline__ OperandStream(const LowerView<T>& view, int order, int all, int step,
                                           int lane_)
      : A(view), n(order), blocks(all), lane(lane_) {
    row_step = kForward != kSwapped ? 1 : A.ld;
    column_step = kForward != kSwapped ? A.ld : 1;
#pragma unroll
    for (int p = 0; p < kAhead; ++p) fetch(p, p < step ? step : step + kWarps, p);
  }
  /// Block `tile` in buffer p has been used: requests the next one.
  __device__ __forceinline__ void go_on(int p, int step, int tile) {
    const bool has_more = tile + kAhead < step;
    fetch(p, has_more ? step : step + kWarps, has_more ? tile + kAhead : p);
  }

 private:
  __device__ __forceinline__ int place(int s) const { return kForward ? s : blocks - 1 - s; }
  __device__ __forceinline__ void fetch(int p, int step, int tile) {
    if (step >= blocks) return;
    const T* const from = A.a + (kOrder * place(step) + lane / 4) * row_step +
                          (kOrder * place(tile) + lane % 4) * column_step;
    // Only rows of the last block, which are columns of op(L) in the backward sweep, can be beyond
    // the matrix.
    const int inside = n - kOrder * (kForward ? place(step) : place(tile));
    if (inside >= kOrder)
      read<true>(places[p], from, inside);
    else
      read<false>(places[p], from, inside);
  }
  template <bool kAll>
  __device__ __forceinline__ void read(TensorOperand<T>& to, const T* from, int inside) {
#pragma unroll
    for (int s = 0; s < TensorOperand<T>::kSteps; ++s)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = kForward ? 8 * half + lane / 4 : 4 * s + lane % 4;
        T& e = to.e[s][half];
        if (!kAll) e = from_real<T>(0);
        if (kAll || row < inside) e = from[8 * half * row_step + 4 * s * column_step];
      }
  }
};

/// Data shared by the warps of a block, and the index of this warp. Steps are counted through both
/// sweeps; step s belongs to warp s mod kWarps.
template <class T, bool kSwapped, class Shape>
struct TensorSweeps {
  static constexpr int kWarps = Shape::kWarps, kAhead = Shape::kAhead;
  static constexpr int kColumns = kTensorSolveColumns<T>;
  using Block = TensorBlock<T, kColumns>;
  using Sum = typename Block::Sum;
  static constexpr int kOrder = Block::kOrder;
  LowerView<T> A;
  int n, blocks;
  InvertedDiagonal<T> inverses;
  SharedRows<Sum, kColumns> x;
  ProgressBarrier* is_solved;
  int warp, lane;

  __device__ __forceinline__ void wait_for(int step) const {
    is_solved[step % kWarps].wait(step / kWarps);
  }
  /// All products are added, so signs alternate: the forward sweep gives -y, from which the
  /// backward one computes x.
  template <bool kForward>
  __device__ __forceinline__ void sweep(const RightHandSides<T>& rhs, int64_t column) const {
    const int base = kForward ? 0 : blocks;
    int step = (warp + kWarps - base % kWarps) % kWarps;
    OperandStream<T, kSwapped, kForward, Shape> stream(A, n, blocks, step, lane);
#pragma unroll 1
    for (; step < blocks; step += kWarps) {
      const int block = place<kForward>(step);
      Block lacking;
      lacking.clear();
#pragma unroll 1
      for (int group = 0; group < step; group += kAhead)
#pragma unroll
        for (int p = 0; p < kAhead; ++p) {
          const int tile = group + p;
          if (p > 0 && tile >= step) break;
          // Steps before this warp's last rows have already been waited for.
          if (tile > step - kWarps) wait_for(base + tile);
          const int first = kOrder * place<kForward>(tile);
          lacking.add_product(
              lane,
              [&](int s, int half) { return conj_if(!kForward, stream.places[p].e[s][half]); },
              [&](int k, int q) { return x.at(first + k, q); });
          stream.go_on(p, step, tile);
        }
      if (!kForward && step == 0) wait_for(base - 1);
      lacking.for_own(lane,
                      [&](Sum& own, int r, int q) { own = add(own, x.at(kOrder * block + r, q)); });
      solve<kForward>(lacking, block);
      is_solved[warp].raise((base + step) / kWarps);
      if (!kForward) lacking.store(rhs, kOrder * block, column, lane);
    }
  }
  /// Loads the right-hand sides to shared memory, by the warps that solve them.
  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, int64_t column) const {
#pragma unroll 2
    for (int block = warp; block < blocks; block += kWarps) {
      Block given;
      given.load(rhs, kOrder * block, column, lane);
      given.for_own(lane, [&](Sum& own, int r, int q) { x.at(kOrder * block + r, q) = own; });
    }
  }

 private:
  template <bool kForward>
  __device__ __forceinline__ int place(int step) const {
    return kForward ? step : blocks - 1 - step;
  }
  template <bool kForward>
  __device__ __forceinline__ void solve(Block& rows, int block) const {
    const TensorOperand<T> inverse = inverses.template operand<kForward>(block, lane);
    const auto put = [&](bool negated) {
      rows.for_own(lane, [&](Sum& own, int r, int q) {
        x.at(kOrder * block + r, q) = negated ? negative(own) : own;
      });
      __syncwarp();
    };
    put(true);
    rows.clear();
    rows.add_product(
        lane, [&](int s, int half) { return inverse.e[s][half]; },
        [&](int k, int q) { return x.at(kOrder * block + k, q); });
    __syncwarp();
    put(false);
  }
};

/// Shared memory of a block for a matrix.
template <class T, int kWarps>
struct TensorSolveLayout {
  using Sum = Doubled<T>;
  static constexpr int kOrder = 16, kColumns = kTensorSolveColumns<T>;
  __host__ __device__ static constexpr int blocks(int n) { return (n + kOrder - 1) / kOrder; }
  __host__ __device__ static constexpr int elements(int n) { return kOrder * blocks(n) * kColumns; }
  static constexpr size_t bytes(int n) {
    return sizeof(ProgressBarrier) * kWarps + sizeof(Sum) * elements(n) +
           sizeof(T) * InvertedDiagonal<T>::elements(blocks(n));
  }
};

template <class T, bool kSwapped, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    tensor_solve_kernel(BatchProblem<T> problem, int64_t chunks) {
  constexpr int kWarps = Shape::kWarps;
  using Layout = TensorSolveLayout<T, kWarps>;
  const int64_t b = blockIdx.x / chunks, column = blockIdx.x % chunks * Layout::kColumns;
  if (!problem.solves(b) || column >= problem.rhs_count(b)) return;
  const int n = static_cast<int>(problem.order(b)), blocks = Layout::blocks(n);
  const int lane = threadIdx.x % 32, warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0);
  extern __shared__ __align__(128) unsigned char shared[];
  auto* const flags = reinterpret_cast<ProgressBarrier*>(shared);
  auto* const rows = reinterpret_cast<Doubled<T>*>(flags + kWarps);
  const InvertedDiagonal<T> inverses{reinterpret_cast<T*>(rows + Layout::elements(n))};
  const LowerView<T> A{problem.A.matrix(b), problem.A.leading_dimension(b), kSwapped};
  const RightHandSides<T> rhs{problem.B.matrix(b), problem.B.leading_dimension(b),
                              problem.rhs_count(b), n, kSwapped};
  if (threadIdx.x < kWarps) flags[threadIdx.x].prepare();
  const auto for_pairs = [&](auto&& body) {
    for (int block = 2 * warp; block < blocks; block += 2 * kWarps) body(block);
  };
  for_pairs([&](int block) { inverses.start_copy(A, n, block, lane); });
  close_copy_group();
  const TensorSweeps<T, kSwapped, Shape> sweeps{A, n, blocks, inverses, {rows}, flags, warp, lane};
  sweeps.load(rhs, column);
  wait_for_copy_groups<0>();
  __syncwarp();
  for_pairs([&](int block) { inverses.invert(n, block, lane); });
  __syncthreads();
  sweeps.template sweep<true>(rhs, column);
  sweeps.template sweep<false>(rhs, column);
}

}  // namespace chol::cuda
