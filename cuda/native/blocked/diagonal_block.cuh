// One thread block a matrix: its lower triangle (or a diagonal block of it) as tiles in the
// registers of the block's warps, assigned cyclically in column-major order, so that the trailing
// tiles of every step are distributed evenly. Only the current panel is in shared memory.
#pragma once

#include <climits>
#include <utility>

#include "native/blocked/interface.hpp"
#include "native/blocked/tile_potf2.cuh"

namespace chol::cuda {

/// Whether a matrix still has work at this step: it is large enough and no earlier pivot failed.
template <class T>
__device__ __forceinline__ bool reaches(const BatchProblem<T>& problem, int64_t b, int64_t offset) {
  return problem.order(b) > offset && (offset == 0 || problem.info[b] == 0);
}

/// Tile rows of the largest triangle with at most that many tiles below the diagonal.
__host__ __device__ constexpr int tile_rows_in(int tiles) {
  int rows = 1;
  while (rows * (rows + 1) / 2 <= tiles) ++rows;
  return rows;
}

template <class TileT, int kTiles>
using GroupsOf = std::make_integer_sequence<int, (kTiles + TileT::kGroup - 1) / TileT::kGroup>;

/// Row and column of each of a warp's tiles. They are the same in every lane,
/// and the compiler keeps them in uniform registers. Absent tiles are assigned position (0, 0),
/// where updates have no effect.
template <int kTiles>
struct TilePlaces {
  unsigned code[kTiles];
  __device__ __forceinline__ int row(int t) const { return code[t] >> 16; }
  __device__ __forceinline__ int column(int t) const { return code[t] & 0xffff; }
};

/// c[t] += P_i P_j^H for the group of tiles from kFirst on, unless all of them are finished
/// (finished tiles of a group are also updated, but never read), and stores those of the next
/// column of tiles in its panel.
template <int kFirst, int kCount, int kTiles, class TileT, class T>
__device__ __forceinline__ void update_group(TileT* c, const TilePlaces<kTiles>& place, int present,
                                             int k, const T* panel, T* next_panel, int pitch,
                                             int lane) {
  // Columns ascend with t up to the absent tiles at the end.
  const int last = min(present, kFirst + kCount) - 1;
  int last_column = -1;
#pragma unroll
  for (int g = 0; g < kCount; ++g)
    if (kFirst + g == last) last_column = place.column(kFirst + g);
  if (last_column <= k) return;
  const T *a[kCount], *b[kCount];
#pragma unroll
  for (int g = 0; g < kCount; ++g) {
    a[g] = panel + TileT::panel_index(place.row(kFirst + g) * TileT::kOrder, 0, pitch);
    b[g] = panel + TileT::panel_index(place.column(kFirst + g) * TileT::kOrder, 0, pitch);
  }
  TileT::template add_products<kCount>(c + kFirst, a, pitch, b, pitch, lane);
#pragma unroll
  for (int g = 0; g < kCount; ++g)
    if (kFirst + g < present && place.column(kFirst + g) == k + 1)
      negated_to_panel(c[kFirst + g], next_panel, place.row(kFirst + g) * TileT::kOrder, pitch,
                       lane);
}
template <class TileT, class T, int kTiles, int... kIndex>
__device__ __forceinline__ void update_tiles(TileT (&c)[kTiles], const TilePlaces<kTiles>& place,
                                             int present, int k, const T* panel, T* next_panel,
                                             int pitch, int lane,
                                             std::integer_sequence<int, kIndex...>) {
  constexpr int kGroup = TileT::kGroup;
  (update_group<kIndex * kGroup,
                (kTiles - kIndex * kGroup < kGroup ? kTiles - kIndex * kGroup : kGroup)>(
       c, place, present, k, panel, next_panel, pitch, lane),
   ...);
}

/// The diagonal tiles, negated, in shared memory in the order of the lanes.
template <class TileT, class T>
struct DiagonalTiles {
  T* data;

  __device__ __forceinline__ T* of(int d) const { return data + d * TileT::kOrder * TileT::kOrder; }
  __device__ __forceinline__ TileT load(int d, int lane) const {
    TileT tile;
#pragma unroll
    for (int e = 0; e < TileT::kElements; ++e) tile.c[e] = of(d)[e * 32 + lane];
    return tile;
  }
  __device__ __forceinline__ void store(const TileT& tile, int d, int lane) const {
#pragma unroll
    for (int e = 0; e < TileT::kElements; ++e) of(d)[e * 32 + lane] = tile.c[e];
  }
  /// Tile d with P_d P_d^H added.
  __device__ __forceinline__ TileT updated(int d, const T* panel, int pitch, int lane) const {
    TileT tile = load(d, lane);
    const T* const p = panel + TileT::panel_index(d * TileT::kOrder, 0, pitch);
    TileT::template add_products<1>(&tile, &p, pitch, &p, pitch, lane);
    return tile;
  }
};

/// Tiles below the diagonal live in registers, diagonal ones in shared memory, so that one warp
/// factors the next diagonal tile, a chain of square roots, while the others update.
/// @tparam kWarps warps of the block. @tparam kTiles most tiles that a warp holds.
/// @tparam kBlocks blocks that must fit on a multiprocessor, which bounds the registers.
template <class T, int kWarps, int kTiles, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    panel_kernel(BatchProblem<T> problem, PanelStep<T> step) {
  using TileT = Tile<T>;
  constexpr int kOrder = TileT::kOrder, kThreads = 32 * kWarps;
  constexpr int kRowsOfWarp = (tile_rows_in(kWarps * kTiles) + kWarps - 2) / kWarps;
  constexpr int kRows = kRowsOfWarp < TileT::kMostRows ? kRowsOfWarp : TileT::kMostRows;
  const int64_t b = blockIdx.x;
  const int thread = threadIdx.x, lane = thread % 32;
  // The shuffle tells the compiler that it is the same in every lane.
  const int warp = __shfl_sync(kFullWarp, thread / 32, 0);
  if (step.offset == 0 && thread == 0 && problem.order(b) == 0) problem.info[b] = 0;
  if (!reaches(problem, b, step.offset)) return;

  const int m = static_cast<int>(min(problem.order(b) - step.offset, int64_t(step.block)));
  const int tile_rows = (m + kOrder - 1) / kOrder, padded = tile_rows * kOrder;
  const LowerView<T> A = lower_view(problem, b).from(step.offset, step.offset);

  extern __shared__ __align__(16) unsigned char shared[];
  const int pitch = TileT::pitch(padded), pitch_x = TileT::pitch(kOrder);
  T* const panels = reinterpret_cast<T*>(shared);
  const int panel_size = TileT::panel_elements(padded);
  T* const X = panels + 2 * panel_size;
  const DiagonalTiles<TileT, T> diagonals{X + TileT::panel_elements(kOrder)};
  __shared__ int first_bad;
  if (thread == 0) first_bad = INT_MAX;

  TileT c[kTiles];
  TilePlaces<kTiles> place;
  const int present = (tile_rows * (tile_rows - 1) / 2 - warp + kWarps - 1) / kWarps;
  const TileAddress<TileT, T> corner(A, 0, 0, lane);
  {
    int j = 0, below = warp;  // column, and rows below its diagonal tile
#pragma unroll
    for (int t = 0; t < kTiles; ++t, below += kWarps) {
      while (j < tile_rows && below >= tile_rows - 1 - j) below -= tile_rows - 1 - j++;
      place.code[t] = t < present ? unsigned(j + 1 + below) << 16 | unsigned(j) : 0;
      const int row0 = place.row(t) * kOrder;
      load_tile(c[t], corner.moved(row0, place.column(t) * kOrder), t < present ? m - row0 : 0,
                false, lane);
    }
  }
  for (int d = warp; d < tile_rows; d += kWarps) {
    TileT tile;
    load_tile(tile, corner.moved(d * kOrder, d * kOrder), m - d * kOrder, true, lane);
    negate(tile);
    diagonals.store(tile, d, lane);
  }
  // Updates accumulate the negative. Negated after all loads, so that no load waits for another.
#pragma unroll
  for (int t = 0; t < kTiles; ++t) negate(c[t]);

#pragma unroll
  for (int t = 0; t < kTiles; ++t)
    if (t < present && place.column(t) == 0)
      negated_to_panel(c[t], panels, place.row(t) * kOrder, pitch, lane);

  __syncwarp();  // orders first_bad for the chain that runs before the first barrier

  // A step finishes column k of tiles and factors the diagonal tile of the next, so that one more
  // is factored at the start.
  for (int k = -1; k < tile_rows; ++k) {
    T* const panel = panels + (k & 1) * panel_size;
    T* const next_panel = panels + (1 - (k & 1)) * panel_size;
    if (k >= 0) {
      __syncthreads();
      for (int row = k + 1 + warp; row < tile_rows; row += kRows * kWarps)
        multiply_by_inverse<kRows, TileT>(panel, row, kWarps, tile_rows, pitch, X, pitch_x,
                                          A.from(0, k * kOrder), m, lane);
      if (step.inverses) {
        T* const saved = step.inverses + (b * step.tiles + k) * kOrder * kOrder;
        for (int index = thread; index < kOrder * kOrder; index += kThreads)
          saved[index] = X[TileT::panel_index(index % kOrder, index / kOrder, pitch_x)];
      }
      __syncthreads();
    }
    const int next = k + 1;
    const int chain_warp = next % kWarps;
    const bool chains = next < tile_rows && warp == chain_warp;
    if (chains) {
      TileT D = k >= 0 ? diagonals.updated(next, panel, pitch, lane) : diagonals.load(next, lane);
      TileT inverse;
      negate(D);
      const int bad = factor_and_invert<TileT, T>(D, inverse, lane);
      to_panel(inverse, X, 0, pitch_x, lane);
      const int row0 = next * kOrder;
      store_tile(D, A, row0, row0, m - row0, m - row0, true, lane);
      if (lane == 0 && bad >= 0 && row0 + bad < m)
        atomicMin(&first_bad, static_cast<int>(step.offset) + row0 + bad + 1);
    }
    if (k < 0) continue;
    if (kWarps == 1 || !chains) {
      const int others = chains || kWarps == 1 ? 1 : kWarps - (next < tile_rows);
      const int rank = kWarps == 1 ? 0 : (warp - chain_warp - 1 + kWarps) % kWarps % others;
      for (int d = next + 1 + rank; d < tile_rows; d += others)
        diagonals.store(diagonals.updated(d, panel, pitch, lane), d, lane);
    }
    update_tiles<TileT>(c, place, present, k, panel, next_panel, pitch, lane,
                        GroupsOf<TileT, kTiles>{});
  }
  __syncthreads();
  if (thread == 0 && (step.offset == 0 || first_bad != INT_MAX))
    problem.info[b] = first_bad == INT_MAX ? 0 : first_bad;
}

template <class T>
size_t panel_shared_bytes(int order) {
  using TileT = Tile<T>;
  const int padded = (order + TileT::kOrder - 1) / TileT::kOrder * TileT::kOrder;
  return sizeof(T) * (2 * TileT::panel_elements(padded) + TileT::panel_elements(TileT::kOrder) +
                      padded * TileT::kOrder);
}

template <class T, int kWarps, int kTiles, int kBlocks>
Status launch_panel(const BatchProblem<T>& problem, const PanelStep<T>& step, cudaStream_t stream) {
  return launch("panel", panel_kernel<T, kWarps, kTiles, kBlocks>,
                static_cast<unsigned>(problem.count), 32 * kWarps,
                panel_shared_bytes<T>(step.block), stream, problem, step);
}

template <class T>
Status run_panel(const BatchProblem<T>& problem, const PanelStep<T>& step, int threads,
                 cudaStream_t stream) {
  constexpr int kOrder = Tile<T>::kOrder;
  static_assert(kOrder == kTileOrder<T>);
  const int rows = (step.block + kOrder - 1) / kOrder, tiles = rows * (rows - 1) / 2;
  Status status;
  const auto try_shape = [&]<class S>(S) {
    if (tiles > S::kWarps * S::kTiles || (threads != 0 && threads != 32 * S::kWarps)) return false;
    status = launch_panel<T, S::kWarps, S::kTiles, S::kBlocks>(problem, step, stream);
    return true;
  };
  const bool found = [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}) || ...);
  }(typename BlockedShapes<T>::Panel{});
  return found ? status
               : Status::error(Status::kNotSupported, "panel: no kernel for order %d", step.block);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE(T)                                                                        \
  template chol::Status chol::cuda::run_panel<T>(const BatchProblem<T>&, const PanelStep<T>&, int, \
                                                 cudaStream_t);
