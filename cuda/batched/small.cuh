// Small orders: several matrices a warp, each in the registers of a few lanes,
// read once and written once.
#pragma once

#include "batched/kernels.hpp"
#include "batched/register_rows.cuh"

namespace chol::cuda {

/// Right-hand sides [first, first + kColumns) of one matrix, its rows spread
/// over the lanes.
template <int kColumns, class Rows, class T, int kTiles>
__device__ __forceinline__ void solve_columns(const Rows& rows, const Real<T> (&inverse)[kTiles],
                                              T* B, int64_t ldb, int64_t first, int64_t nrhs, int n,
                                              int bound, int r, bool conjugated) {
  constexpr int kLanes = Rows::kLaneCount;
  T x[kColumns][kTiles];
#pragma unroll
  for (int q = 0; q < kColumns; ++q)
#pragma unroll
    for (int g = 0; g < kTiles; ++g) {
      const bool inside = g * kLanes + r < n && first + q < nrhs;
      x[q][g] =
          inside ? conj_if(conjugated, B[(first + q) * ldb + g * kLanes + r]) : from_real<T>(0);
    }
  rows.template solve<kColumns>(inverse, x, bound, r);
#pragma unroll
  for (int q = 0; q < kColumns; ++q)
#pragma unroll
    for (int g = 0; g < kTiles; ++g)
      if (g * kLanes + r < n && first + q < nrhs)
        B[(first + q) * ldb + g * kLanes + r] = conj_if(conjugated, x[q][g]);
}

/// The warps of a block share nothing.
template <class T, int N, int kLanes, int kWarps, int kBlocks, SmallTask kTask>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) small_kernel(BatchProblem<T> problem) {
  using Rows = RegisterRows<T, N, kLanes>;
  __shared__ __align__(16) T shared_of_warp[kWarps][Rows::kShared];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int r = lane % kLanes, group = lane / kLanes;
  const int64_t slot = (int64_t(blockIdx.x) * kWarps + warp) * Rows::kGroups + group;
  const int64_t b = problem.sequence && slot < problem.count ? problem.sequence[slot] : slot;
  T* shared = shared_of_warp[warp] + group * Rows::kGroupShared;

  // Lanes without a matrix walk along with an empty one: the warp's barriers
  // count all of them.
  int64_t order = slot < problem.count ? problem.order(b) : -1;
  if constexpr (kTask == SmallTask::factor)
    if (problem.unchecked && slot < problem.count) {
      const int bad = problem.first_bad(b, order);
      if (bad && r == 0) problem.info[b] = -bad;
      order = bad ? -1 : order;
    }
  const bool active = order >= 0;
  const int n = active ? static_cast<int>(order) : 0;
  const int bound = problem.orders ? __reduce_max_sync(kFullWarp, n) : static_cast<int>(problem.n);
  LowerView<T> A{nullptr, 1, problem.swapped};
  if (n > 0) A = lower_view(problem, b);

  Rows rows;
  rows.load(A, n, r, shared);
  int info = 0;
  if constexpr (kTask != SmallTask::solve) {
    info = rows.factor(shared, n, bound, r);
    if (active && r == 0) problem.info[b] = info;
  }
  if constexpr (kTask != SmallTask::factor) {
    Real<T> inverse[Rows::kTiles];
    rows.invert_diagonal(inverse, r);
    const bool solves = n > 0 && info == 0;
    const int64_t nrhs = solves ? problem.rhs_count(b) : 0;
    T* B = nrhs > 0 ? problem.B.matrix(b) : nullptr;
    const int64_t ldb = nrhs > 0 ? problem.B.leading_dimension(b) : 1;
    const int64_t most = __reduce_max_sync(kFullWarp, static_cast<unsigned>(nrhs));
    if (most == 1)
      solve_columns<1>(rows, inverse, B, ldb, 0, nrhs, n, bound, r, problem.swapped);
    else
      for (int64_t first = 0; first < most; first += 2)
        solve_columns<2>(rows, inverse, B, ldb, first, nrhs, n, bound, r, problem.swapped);
  }
  if constexpr (kTask != SmallTask::solve) rows.store(A, n, r, shared);
}

template <class T, class Shape, SmallTask kTask>
Status launch_small(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr int kLanes = Shape::kLanes, kOrder = (Shape::kOrder + kLanes - 1) / kLanes * kLanes;
  constexpr int64_t kMatrices = Shape::kWarps * (32 / kLanes);
  const auto blocks = static_cast<unsigned>((problem.count + kMatrices - 1) / kMatrices);
  small_kernel<T, kOrder, kLanes, Shape::kWarps, Shape::kBlocks, kTask>
      <<<blocks, 32 * Shape::kWarps, 0, stream>>>(problem);
  return launched("small");
}

template <SmallTask kTask, class T>
Status run_small(const BatchProblem<T>& problem, int lanes, cudaStream_t stream) {
  Status status;
  const auto try_shape = [&]<class S>(S) {
    if (problem.n > S::kOrder || (lanes != 0 && lanes != S::kLanes)) return false;
    status = launch_small<T, S, kTask>(problem, stream);
    return true;
  };
  const bool found = [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}) || ...);
  }(SmallShapes<kTask, T>{});
  return found ? status
               : Status::error(CHOL_STATUS_NOT_SUPPORTED, "small: no kernel for order %d",
                               static_cast<int>(problem.n));
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_SMALL(task, T)                                        \
  template chol::Status chol::cuda::run_small<chol::cuda::SmallTask::task, T>( \
      const BatchProblem<T>&, int, cudaStream_t);
