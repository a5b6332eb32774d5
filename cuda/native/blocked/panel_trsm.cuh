// The rows below a factored diagonal block: a thread block takes a panel of them and multiplies it
// by the inverse of the diagonal block, tile column by tile column.
#pragma once

#include "native/blocked/interface.hpp"
#include "native/blocked/tile_potf2.cuh"

namespace chol::cuda {

/// Tile rows that a warp holds; each operand tile of the diagonal block is used for all of them.
inline constexpr int kStripTileRows = 2;

template <class TileT, int kWarps>
inline constexpr int kStripRows = kWarps* kStripTileRows* TileT::kOrder;

/// @tparam kColumns tile columns of the block column, step.block / kOrder.
template <class T, int kWarps, int kColumns, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    strip_kernel(BatchProblem<T> problem, PanelStep<T> step, int64_t strips) {
  using TileT = Tile<T>;
  constexpr int kOrder = TileT::kOrder, kThreads = 32 * kWarps, kBlock = kColumns * kOrder;
  constexpr int kRows = kStripRows<TileT, kWarps>, kPanelRows = kRows + kBlock;
  constexpr int kPitch = TileT::pitch(kPanelRows), kPitchX = TileT::pitch(kOrder);
  constexpr int kPanelSize = TileT::panel_elements(kPanelRows);
  const int64_t b = blockIdx.x / strips;
  const int64_t first_row = step.offset + kBlock + (blockIdx.x % strips) * kRows;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int64_t n = problem.order(b);
  if (n <= first_row) return;
  const int failed = problem.info[b];
  if (failed != 0 && failed <= step.offset) return;

  const int rows = static_cast<int>(min(n - first_row, int64_t(kRows)));
  const LowerView<T> whole = lower_view(problem, b);
  const LowerView<T> top = whole.from(step.offset, step.offset);
  const LowerView<T> A = whole.from(first_row, step.offset);
  const T* const inverses = step.inverses + b * step.tiles * kOrder * kOrder;

  // Panel rows [0, kRows) belong to the strip, the others to the diagonal block.
  extern __shared__ __align__(16) unsigned char shared[];
  T* const panels = reinterpret_cast<T*>(shared);
  T* const inverse_tiles = panels + 2 * kPanelSize;
  constexpr int kInverse = TileT::panel_elements(kOrder);

  TileT c[kColumns][kStripTileRows];
#pragma unroll
  for (int a = 0; a < kStripTileRows; ++a)
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int row0 = (warp * kStripTileRows + a) * kOrder;
      const TileAddress<TileT, T> address(A, row0, j * kOrder, lane);
#pragma unroll
      for (int e = 0; e < TileT::kElements; ++e) {
        c[j][a].c[e] = from_real<T>(0);
        if (row0 + TileT::row(e, lane) < rows) c[j][a].c[e] = *address.at(e);
      }
    }

#pragma unroll
  for (int a = 0; a < kStripTileRows; ++a)
#pragma unroll
    for (int j = 0; j < kColumns; ++j) negate(c[j][a]);

  const auto stage = [&](int k) {
    T* const panel = panels + (k % 2) * kPanelSize;
    // Two copies of the loop, so that strides are constants.
    const int64_t j0 = int64_t(k) * kOrder;
    if (whole.swapped)
      stage_rows<TileT, kBlock, kThreads>(panel, kPitch, kRows, LowerView<T>{top.a, top.ld, true},
                                          j0, kBlock, thread);
    else
      stage_rows<TileT, kBlock, kThreads>(panel, kPitch, kRows, LowerView<T>{top.a, top.ld, false},
                                          j0, kBlock, thread);
    T* const X = inverse_tiles + (k % 2) * kInverse;
    for (int index = thread; index < kOrder * kOrder; index += kThreads)
      X[TileT::panel_index(index % kOrder, index / kOrder, kPitchX)] =
          inverses[k * kOrder * kOrder + index];
  };

  stage(0);
  for (int k = 0; k < kColumns; ++k) {
    T* const panel = panels + (k % 2) * kPanelSize;
    wait_for_copies();
    __syncthreads();
    if (k + 1 < kColumns) stage(k + 1);
    // Each warp accesses its own rows only: no block barrier is needed.
    const int row0 = warp * kStripTileRows * kOrder, tile0 = warp * kStripTileRows;
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      if (j == k)
#pragma unroll
        for (int a = 0; a < kStripTileRows; ++a)
          negated_to_panel(c[j][a], panel, row0 + a * kOrder, kPitch, lane);
    __syncwarp();
    multiply_by_inverse<kStripTileRows, TileT>(panel, tile0, 1, tile0 + kStripTileRows, kPitch,
                                               inverse_tiles + (k % 2) * kInverse, kPitchX,
                                               A.from(0, k * kOrder), rows, lane);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      if (j <= k) continue;
      const T *a[kStripTileRows], *b[kStripTileRows];
#pragma unroll
      for (int r = 0; r < kStripTileRows; ++r) {
        a[r] = panel + TileT::panel_index(row0 + r * kOrder, 0, kPitch);
        b[r] = panel + TileT::panel_index(kRows + j * kOrder, 0, kPitch);
      }
      TileT::template add_products<kStripTileRows>(c[j], a, kPitch, b, kPitch, lane);
    }
  }
}

/// Strips below the diagonal block of a matrix of order n.
template <class T, int kWarps>
int64_t strip_count(const PanelStep<T>& step, int64_t n) {
  constexpr int kRows = kStripRows<Tile<T>, kWarps>;
  const int64_t below = n - step.offset - step.block;
  return below > 0 ? (below + kRows - 1) / kRows : 0;
}

template <class T, int kWarps, int kColumns, int kBlocks>
void launch_strips(const BatchProblem<T>& problem, const PanelStep<T>& step, cudaStream_t stream) {
  using TileT = Tile<T>;
  const int64_t strips = strip_count<T, kWarps>(step, problem.n);
  if (strips == 0) return;
  constexpr int kPanelRows = kStripRows<TileT, kWarps> + kColumns * TileT::kOrder;
  constexpr size_t kBytes =
      sizeof(T) * 2 * (TileT::panel_elements(kPanelRows) + TileT::panel_elements(TileT::kOrder));
  static_assert(kBytes <= 48 * 1024);
  strip_kernel<T, kWarps, kColumns, kBlocks>
      <<<static_cast<unsigned>(problem.count * strips), 32 * kWarps, kBytes, stream>>>(
          problem, step, strips);
}

template <class T>
Status run_strips(const BatchProblem<T>& problem, const PanelStep<T>& step, cudaStream_t stream) {
  using S = typename BlockedShapes<T>::Strip;
  launch_strips<T, S::kWarps, S::kColumns, S::kBlocks>(problem, step, stream);
  return launched("strip");
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE(T)                                                                    \
  template chol::Status chol::cuda::run_strips<T>(const BatchProblem<T>&, const PanelStep<T>&, \
                                                  cudaStream_t);
