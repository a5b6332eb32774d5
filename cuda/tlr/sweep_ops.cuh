// Solves and products with all tiles at once: see sweep.cuh.
#pragma once

#include "tlr/device_ops.cuh"
#include "tlr/sweep.cuh"

namespace chol::cuda::tlr {

inline constexpr int kSweepWarps = 16;
/// Blocks that have a block row together. More shorten the way from one x_i to the next one.
inline constexpr int kSweepShares = 4;
/// Columns of a sweep. Of more columns than these all are worked on together: see wide_ops.cuh.
inline constexpr int kSweepColumns = 4, kMostSolved = 16, kMostMultiplied = 4;

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

/// Blocks of a chain with tiles of this order: two pieces of an inverse each.
inline int chain_blocks(int64_t tile) {
  return static_cast<int>((tile + 2 * kSweepWarps - 1) / (2 * kSweepWarps));
}

template <class T>
bool CudaTileOps<T>::has_sweeps(typename backend::TileOps<T>::Sweep kind, int64_t tile,
                                int64_t columns) const {
  const bool solves = kind == backend::TileOps<T>::Sweep::solve;
  if (columns > (solves ? kMostSolved : kMostMultiplied)) return true;
  return tile <= 64 * kSweepWarps &&
         device_attribute(cudaDevAttrMultiProcessorCount) >= chain_blocks(tile) + kSweepShares;
}

/// All blocks are on the device at the same time, or none.
template <class T>
template <int kDown, int kColumns>
void CudaTileOps<T>::launch_sweep(const SweepCall& call, int blocks) {
  using Shape = SweepShape<D, kSweepWarps, kDown, kColumns>;
  const auto kernel = sweep_kernel<D, kDown, kColumns>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             Shape::kSharedBytes),
        "sweep");
  SweepCall argument = call;
  void* arguments[] = {&argument};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel),
                                    dim3(static_cast<unsigned>(blocks)), dim3(Shape::kThreads),
                                    arguments, Shape::kSharedBytes, stream_),
        "sweep");
}

/// The tables and the groups of a sweep; what concerns its vectors is left.
template <class T>
SweepCall CudaTileOps<T>::prepare_sweep(const backend::LowerTiles<T>& L, bool adjoint, bool solves,
                                        int* blocks) {
  const int multiprocessors = static_cast<int>(device_attribute(cudaDevAttrMultiProcessorCount));
  SweepCall call{};
  call.count = static_cast<int>(L.starts.size()) - 1;
  call.n = static_cast<int>(L.starts.back());
  call.adjoint = adjoint;
  call.solves = solves;
  call.has_pairs = L.has_pairs;
  call.shares = kSweepShares;
  call.chain_blocks = solves ? chain_blocks(L.tile) : 0;
  const int groups =
      std::max(1, std::min(call.count - 1, (multiprocessors - call.chain_blocks) / call.shares));
  *blocks = call.chain_blocks + groups * call.shares;
  const SweepGroups of_rows(sweep_weights(L, adjoint), groups);
  std::vector<SweepTile> tiles;
  tiles.reserve(L.tiles.size());
  for (const backend::LowRank<T>& tile : L.tiles) tiles.push_back({tile.U, tile.V, tile.rank});
  store_.upload.keep_together({bytes_of(tiles), sizeof(int) * L.starts.size(),
                               sizeof(void*) * L.inverses.size(), bytes_of(of_rows.starts),
                               bytes_of(of_rows.rows)});
  call.tiles = send(tiles);
  call.starts = send(std::vector<int>(L.starts.begin(), L.starts.end()));
  if (solves) call.inverses = send(std::vector<const void*>(L.inverses.begin(), L.inverses.end()));
  call.group_starts = send(of_rows.starts);
  call.rows = send(of_rows.rows);
  return call;
}

/// The sweep, of at most kColumns columns of X.
template <class T>
template <int kColumns>
void CudaTileOps<T>::run_sweep(SweepCall call, int64_t tile, int blocks, T* handed_over) {
  const int64_t elements = int64_t{call.n} * kColumns;
  const Buffer<T> running = this->buffer(elements * call.shares);
  set_zero(running.get(), elements * call.shares);
  // No result has all bits set.
  const int64_t parts = call.shares + (call.solves ? 1 : 0);
  check(cudaMemsetAsync(handed_over, 0xFF, sizeof(T) * static_cast<size_t>(elements * parts),
                        stream_),
        "sweep");
  call.running = running.get();
  call.published = handed_over;
  call.solution = handed_over + elements * call.shares;
  if (tile <= 32 * kSweepWarps)
    launch_sweep<1, kColumns>(call, blocks);
  else
    launch_sweep<2, kColumns>(call, blocks);
}

/// finish(what was handed over, columns there, first column, columns) behind the sweep of each few.
template <class T>
template <class Finish>
void CudaTileOps<T>::sweep(const backend::LowerTiles<T>& L, bool adjoint, bool solves,
                           int64_t columns, const T* X, int64_t ldx, Finish&& finish) {
  if (columns == 0 || L.starts.back() == 0) return;
  int blocks = 0;
  SweepCall call = prepare_sweep(L, adjoint, solves, &blocks);
  const int64_t parts = int64_t{call.n} * (call.shares + 1);
  const Buffer<T> handed_over = this->buffer(parts * std::min<int64_t>(kSweepColumns, columns + 2));
  for (int64_t first = 0; first < columns; first += kSweepColumns) {
    const int64_t here = std::min<int64_t>(kSweepColumns, columns - first);
    call.X = X + first * ldx;
    call.ldx = ldx;
    call.columns = static_cast<int>(here);
    if (here == 1)
      run_sweep<1>(call, L.tile, blocks, handed_over.get());
    else
      run_sweep<kSweepColumns>(call, L.tile, blocks, handed_over.get());
    finish(handed_over.get(), call, here == 1 ? 1 : kSweepColumns, first, here);
  }
}

template <class T>
void CudaTileOps<T>::solve_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, T* B,
                               int64_t ldb) {
  if (columns > kMostSolved) return solve_wide(L, adjoint, columns, B, ldb);
  sweep(L, adjoint, true, columns, B, ldb,
        [&](const T* handed_over, const SweepCall& call, int stored, int64_t first, int64_t here) {
          const int64_t n = call.n;
          copy({{false, n, here, handed_over + n * stored * call.shares, n, B + first * ldb, ldb}});
        });
}

template <class T>
void CudaTileOps<T>::add_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns,
                             const T* X, int64_t ldx, T* Y, int64_t ldy) {
  if (columns > kMostMultiplied) return add_wide(L, adjoint, columns, X, ldx, Y, ldy);
  sweep(L, adjoint, false, columns, X, ldx,
        [&](const T* handed_over, const SweepCall& call, int stored, int64_t first, int64_t here) {
          // The block row that comes first has no tiles.
          const int skipped = adjoint ? 0 : static_cast<int>(L.starts[1]);
          const int64_t rows = adjoint ? L.starts[L.starts.size() - 2] : call.n - skipped;
          add_shares_kernel<D><<<blocks_for(rows * here), kThreads, 0, stream_>>>(
              device(handed_over) + skipped, call.shares, call.n, rows, static_cast<int>(here),
              stored, device(Y) + skipped + first * ldy, ldy);
          checked("sums of a sweep");
        });
}

}  // namespace chol::cuda::tlr
