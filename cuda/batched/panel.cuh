// One thread block a matrix: its lower triangle (or a diagonal block of it) lies as tiles in the
// registers of the block's warps, dealt out cyclically in column-major order, so that every step's
// trailing tiles are spread evenly. Only the current panel passes through shared memory.
#pragma once

#include "batched/kernels.hpp"
#include "batched/tile.cuh"

namespace chol::cuda {

/// Whether a matrix still has work at this step: it reaches that far and no pivot before failed.
template <class T>
__device__ __forceinline__ bool reaches(const BatchProblem<T>& problem, int64_t b, int64_t offset) {
  return problem.order(b) > offset && (offset == 0 || problem.info[b] == 0);
}

/// @tparam kWarps warps of the block. @tparam kTiles most tiles that a warp holds.
/// @tparam kBlocks blocks that must fit on a multiprocessor, which bounds the registers.
template <class T, int kWarps, int kTiles, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    panel_kernel(BatchProblem<T> problem, PanelStep<T> step) {
  using TileT = Tile<T>;
  constexpr int kOrder = TileT::kOrder, kThreads = 32 * kWarps;
  const int64_t b = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  if (step.offset == 0 && thread == 0 && problem.order(b) == 0) problem.info[b] = 0;
  if (!reaches(problem, b, step.offset)) return;

  const int m = static_cast<int>(min(problem.order(b) - step.offset, int64_t(step.block)));
  const int tile_rows = (m + kOrder - 1) / kOrder, padded = tile_rows * kOrder;
  const LowerView<T> whole = lower_view(problem, b);
  const LowerView<T> A = whole.from(step.offset, step.offset);
  const LowerView<T> left = whole.from(step.offset, step.updated);

  extern __shared__ __align__(16) unsigned char shared[];
  const int pitch = TileT::pitch(padded), pitch_x = TileT::pitch(kOrder);
  T* const panels = reinterpret_cast<T*>(shared);
  const int panel_size = TileT::panel_elements(padded);
  T* const X = panels + 2 * panel_size;
  __shared__ int first_bad;
  if (thread == 0) first_bad = 0;

  TileT c[kTiles];
  int place[kTiles];  // row and column of each tile, packed
  {
    int i = 0, j = 0;
    int skip = warp;
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      while (j < tile_rows && skip >= tile_rows - j) skip -= tile_rows - j, ++j;
      i = j + skip;
      skip += kWarps;
      place[t] = j < tile_rows ? i << 8 | j : -1;
      if (place[t] >= 0)
        load_lower_tile(c[t], A, i * kOrder, j * kOrder, m, lane);
      else
#pragma unroll
        for (int e = 0; e < TileT::kElements; ++e) c[t].c[e] = from_real<T>(0);
    }
  }

  const int before = static_cast<int>((step.offset - step.updated) / kOrder);
  if (before == 0) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
      if (place[t] >= 0 && (place[t] & 255) == 0)
        to_panel(c[t], panels, (place[t] >> 8) * kOrder, pitch, lane);
  } else {
    stage_panel<TileT>(panels, pitch, 0, left, 0, m, padded, thread, kThreads);
  }

  for (int s = 0; s < before + tile_rows; ++s) {
    T* const panel = panels + (s % 2) * panel_size;
    T* const next_panel = panels + (1 - s % 2) * panel_size;
    const int k = s - before;  // the column of tiles that is finished now; negative: staged columns
    if (k < 0) wait_for_copies();
    __syncthreads();
    if (k < 0) {
      if (s + 1 < before)
        stage_panel<TileT>(next_panel, pitch, 0, left, int64_t(s + 1) * kOrder, m, padded, thread,
                           kThreads);
    } else {
      if (warp == k % kWarps) {
        TileT D, inverse;
        from_panel(D, panel, k * kOrder, pitch, lane);
        const int bad = factor_and_invert<TileT, T>(D, inverse, lane);
        to_panel(D, panel, k * kOrder, pitch, lane);
        to_panel(inverse, X, 0, pitch_x, lane);
        if (lane == 0 && bad >= 0 && k * kOrder + bad < m && first_bad == 0)
          first_bad = static_cast<int>(step.offset) + k * kOrder + bad + 1;
      }
      __syncthreads();
      for (int i = k + 1 + warp; i < tile_rows; i += kWarps)
        multiply_by_inverse<TileT>(panel, i * kOrder, pitch, X, pitch_x, lane);
      if (step.inverses) {
        T* const saved = step.inverses + (b * step.tiles + k) * kOrder * kOrder;
        for (int index = thread; index < kOrder * kOrder; index += kThreads)
          saved[index] = X[TileT::panel_index(index % kOrder, index / kOrder, pitch_x)];
      }
      __syncthreads();
      store_panel<TileT>(panel, pitch, 0, A, k * kOrder, m - k * kOrder, k * kOrder,
                         min(kOrder, m - k * kOrder), true, thread, kThreads);
    }
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
      const int i = place[t] >> 8, j = place[t] & 255;
      if (place[t] < 0 || j <= k) continue;
      c[t].subtract_product(panel + TileT::panel_index(i * kOrder, 0, pitch), pitch,
                            panel + TileT::panel_index(j * kOrder, 0, pitch), pitch, lane);
      if (j == k + 1) to_panel(c[t], next_panel, i * kOrder, pitch, lane);
    }
  }
  __syncthreads();
  if (thread == 0 && (step.offset == 0 || first_bad != 0)) problem.info[b] = first_bad;
}

template <class T>
size_t panel_shared_bytes(int order) {
  using TileT = Tile<T>;
  const int padded = (order + TileT::kOrder - 1) / TileT::kOrder * TileT::kOrder;
  return sizeof(T) * (2 * TileT::panel_elements(padded) + TileT::panel_elements(TileT::kOrder));
}

template <class T, int kWarps, int kTiles, int kBlocks>
void launch_panel(const BatchProblem<T>& problem, const PanelStep<T>& step, cudaStream_t stream) {
  panel_kernel<T, kWarps, kTiles, kBlocks>
      <<<static_cast<unsigned>(problem.count), 32 * kWarps, panel_shared_bytes<T>(step.block),
         stream>>>(problem, step);
}

template <class T>
Status run_panel(const BatchProblem<T>& problem, const PanelStep<T>& step, int threads,
                 cudaStream_t stream) {
  constexpr int kOrder = Tile<T>::kOrder;
  static_assert(kOrder == kTileOrder<T>);
  const int rows = (step.block + kOrder - 1) / kOrder, tiles = rows * (rows + 1) / 2;
  const auto try_shape = [&]<class S>(S) {
    if (tiles > S::kWarps * S::kTiles || (threads != 0 && threads != 32 * S::kWarps)) return false;
    launch_panel<T, S::kWarps, S::kTiles, S::kBlocks>(problem, step, stream);
    return true;
  };
  const bool found = [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}) || ...);
  }(typename Shapes<T>::Panel{});
  return found ? launched("panel")
               : Status::error(CHOL_STATUS_NOT_SUPPORTED, "panel: no kernel for order %d",
                               step.block);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE(T)                                                                        \
  template chol::Status chol::cuda::run_panel<T>(const BatchProblem<T>&, const PanelStep<T>&, int, \
                                                 cudaStream_t);
