// Solves and products with all tiles in one launch: see sweep.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/sweep.cuh"
#include "tlr/thin_launch.hpp"
#include "tlr/wide_launch.hpp"

namespace chol::cuda::tlr {

inline constexpr int kSweepWarps = 16;
/// Number of blocks that share a block row.
inline constexpr int kSweepShares = 4;
/// With more columns than these, all columns are processed together: see wide_ops.cuh.
inline constexpr int kMostSolved = 16, kMostMultiplied = 4;

template <class T, int kDown, int kColumns>
__global__ void __launch_bounds__(32 * kSweepWarps, 1)
    sweep_kernel(const __grid_constant__ SweepCall call) {
  extern __shared__ __align__(16) char memory[];
  Sweep<T, kSweepWarps, kDown, kColumns>(call, memory).run(static_cast<int>(blockIdx.x));
}

/// Y += the sums of all shares.
template <class T>
__global__ void __launch_bounds__(kThreads)
    add_shares_kernel(const T* __restrict__ sums, int shares, int64_t n, int64_t rows, int columns,
                      int stored, T* Y, int64_t ldy) {
  for (int64_t e = first_of_thread(); e < rows * columns; e += grid_step()) {
    const int64_t i = e % rows, r = e / rows;
    T y = Y[i + r * ldy];
    for (int s = 0; s < shares; ++s) y = add(y, sums[(int64_t{s} * stored + r) * n + i]);
    Y[i + r * ldy] = y;
  }
}

template <class T>
bool CudaTileOps<T>::has_sweeps(typename backend::TileOps<T>::Sweep kind, int64_t tile,
                                int64_t columns) const {
  const bool solves = kind == backend::TileOps<T>::Sweep::solve;
  return columns > (solves ? kMostSolved : kMostMultiplied) || tile <= 64 * kSweepWarps;
}

template <class T>
template <int kDown, int kColumns>
void CudaTileOps<T>::launch_sweep(const SweepCall& call, int blocks) {
  using Shape = SweepShape<D, kSweepWarps, kDown, kColumns>;
  const auto kernel = sweep_kernel<D, kDown, kColumns>;
  // No carveout is set: loads in flight occupy lines of the first-level cache, and with the
  // smallest cache a product takes 1.25 times as long.
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Shape::kSharedBytes),
        "sweep");
  kernel<<<static_cast<unsigned>(blocks), Shape::kThreads, Shape::kSharedBytes, stream_>>>(call);
  checked("sweep");
}

/// The tables and the groups of a sweep, without the fields of its vectors.
template <class T>
SweepCall CudaTileOps<T>::prepare_sweep(const backend::LowerTiles<T>& L, bool adjoint,
                                        int* blocks) {
  const int multiprocessors = static_cast<int>(device_attribute(cudaDevAttrMultiProcessorCount));
  SweepCall call{};
  call.count = static_cast<int>(L.starts.size()) - 1;
  call.n = static_cast<int>(L.starts.back());
  call.adjoint = adjoint;
  call.shares = kSweepShares;
  const int groups = std::max(1, std::min(call.count - 1, multiprocessors / call.shares));
  *blocks = groups * call.shares;
  const SweepGroups of_rows(sweep_weights(L, adjoint), groups);
  std::vector<SweepTile> tiles;
  tiles.reserve(L.tiles.size());
  for (const backend::LowRank<T>& tile : L.tiles) tiles.push_back({tile.U, tile.V, tile.rank});
  store_.upload.keep_together({bytes_of(tiles), sizeof(int) * L.starts.size(),
                               bytes_of(of_rows.starts), bytes_of(of_rows.rows)});
  call.tiles = send(tiles);
  call.starts = send(std::vector<int>(L.starts.begin(), L.starts.end()));
  call.group_starts = send(of_rows.starts);
  call.rows = send(of_rows.rows);
  return call;
}

/// Y += the sums, for at most kColumns columns of X.
template <class T>
template <int kColumns>
void CudaTileOps<T>::run_sweep(SweepCall call, const backend::LowerTiles<T>& L, int blocks, T* Y,
                               int64_t ldy) {
  const int64_t elements = int64_t{call.n} * kColumns * call.shares;
  const Buffer<T> sums = this->buffer(elements);
  set_zero(sums.get(), elements);
  call.sums = sums.get();
  if (L.tile <= 32 * kSweepWarps)
    launch_sweep<1, kColumns>(call, blocks);
  else
    launch_sweep<2, kColumns>(call, blocks);
  // The first block row has no tiles.
  const int skipped = call.adjoint ? 0 : static_cast<int>(L.starts[1]);
  const int64_t rows = call.adjoint ? L.starts[L.starts.size() - 2] : call.n - skipped;
  add_shares_kernel<D><<<blocks_for(rows * call.columns), kThreads, 0, stream_>>>(
      device(sums.get()) + skipped, call.shares, call.n, rows, call.columns, kColumns,
      device(Y) + skipped, ldy);
  checked("sums of a sweep");
}

template <class T>
void CudaTileOps<T>::solve_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, T* B,
                               int64_t ldb) {
  if (columns == 0 || L.starts.back() == 0) return;
  if (columns > kMostSolved) return solve_stages<WideLaunch<D>>(L, adjoint, columns, B, ldb);
  if (columns == 1) return solve_stages<ThinLaunch<D, 1>>(L, adjoint, columns, B, ldb);
  solve_stages<ThinLaunch<D, 4>>(L, adjoint, columns, B, ldb);
}

template <class T>
void CudaTileOps<T>::add_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                             const T* X, int64_t ldx, T* Y, int64_t ldy) {
  if (columns == 0 || L.starts.back() == 0) return;
  if (columns > kMostMultiplied) return add_wide(L, adjoint, columns, X, ldx, Y, ldy);
  int blocks = 0;
  SweepCall call = prepare_sweep(L, adjoint, &blocks);
  call.X = X;
  call.ldx = ldx;
  call.columns = static_cast<int>(columns);
  if (columns == 1)
    run_sweep<1>(call, L, blocks, Y, ldy);
  else
    run_sweep<kMostMultiplied>(call, L, blocks, Y, ldy);
}

}  // namespace chol::cuda::tlr
