// Small orders: each matrix in the registers of a few lanes or of a warp, read once and written
// once.
#pragma once

#include <type_traits>

#include "batched/register/column_cyclic.cuh"
#include "batched/register/cyclic_2d.cuh"
#include "batched/register/row_cyclic.cuh"
#include "batched/register/shapes.hpp"

namespace chol::cuda {

/// Whether the lanes share a matrix as a 2D grid, which takes fewer instructions, or by lines,
/// which gives longer contiguous accesses. Measured on an H200.
template <class T, int N, int kLanes, bool kSwapped>
inline constexpr bool kIsGrid = kLanes == 32 ||
                                (kLanes == 16 &&
                                 (kSwapped || !std::is_same_v<T, double> || N % kLanes != 0)) ||
                                (kLanes == 8 && kSwapped && Traits<T>::is_complex);
template <class T, int N, int kLanes, bool kSwapped, bool kSolves>
struct GridOf {
  /// Lanes along a line of memory: 32 bytes where that is faster.
  static constexpr bool kWide = kLanes == 32 || (kLanes == 16 && sizeof(T) == 4 && N == 32);
  static constexpr int kAlong = kWide ? 8 : 4;
  static constexpr int kAcross = kLanes / kAlong;
  static constexpr int kRows = kSwapped ? kAcross : kAlong;
  static constexpr int kColumns = kSwapped ? kAlong : kAcross;
  using Solve =
      std::conditional_t<kSolves, GridSolve<T, N, kRows, kColumns, kSwapped>, NoGridSolve>;
  using Type = RegisterGrid<T, N, kRows, kColumns, kSwapped, Solve>;
};
template <class T, int N, int kLanes, bool kSwapped>
struct LinesOf {
  using Type =
      std::conditional_t<kSwapped, RegisterColumns<T, N, kLanes>, RegisterRows<T, N, kLanes>>;
};
/// A solve uses lines, except with one right-hand side.
template <SmallTask kTask, class T, int N, int kLanes, bool kSwapped>
using LanesShare = typename std::conditional_t<
    kIsOfOne<kTask> || (kTask == SmallTask::factor && kIsGrid<T, N, kLanes, kSwapped>),
    GridOf<T, N, kLanes, kSwapped, kIsOfOne<kTask>>, LinesOf<T, N, kLanes, kSwapped>>::Type;

/// Right-hand sides [first, first + kColumns) of one matrix, its rows distributed over the lanes.
template <int kColumns, class Lines, class T, int kTiles>
__device__ __forceinline__ void solve_columns(const Lines& lines, const Real<T> (&inverse)[kTiles],
                                              T* B, int64_t ldb, int64_t first, int64_t nrhs, int n,
                                              int bound, int r, bool conjugated) {
  constexpr int kLanes = Lines::kLaneCount;
  T x[kColumns][kTiles];
#pragma unroll
  for (int q = 0; q < kColumns; ++q)
#pragma unroll
    for (int g = 0; g < kTiles; ++g) {
      const bool inside = g * kLanes + r < n && first + q < nrhs;
      x[q][g] =
          inside ? conj_if(conjugated, B[(first + q) * ldb + g * kLanes + r]) : from_real<T>(0);
    }
  lines.template solve<kColumns>(inverse, x, bound, r);
#pragma unroll
  for (int q = 0; q < kColumns; ++q)
#pragma unroll
    for (int g = 0; g < kTiles; ++g)
      if (g * kLanes + r < n && first + q < nrhs)
        B[(first + q) * ldb + g * kLanes + r] = conj_if(conjugated, x[q][g]);
}

/// All right-hand sides of matrix b, which is loaded.
template <class Lines, class T>
__device__ __forceinline__ void solve_in_lines(const BatchProblem<T>& problem, const Lines& lines,
                                               int64_t b, bool solves, int n, int bound, int r,
                                               bool conjugated) {
  Real<T> inverse[Lines::kTiles];
  lines.invert_diagonal(inverse, r);
  const int64_t nrhs = solves ? problem.rhs_count(b) : 0;
  T* B = nrhs > 0 ? problem.B.matrix(b) : nullptr;
  const int64_t ldb = nrhs > 0 ? problem.B.leading_dimension(b) : 1;
  const int64_t most = __reduce_max_sync(kFullWarp, static_cast<unsigned>(nrhs));
  if (most == 1)
    solve_columns<1>(lines, inverse, B, ldb, 0, nrhs, n, bound, r, conjugated);
  else
    for (int64_t first = 0; first < most; first += 2)
      solve_columns<2>(lines, inverse, B, ldb, first, nrhs, n, bound, r, conjugated);
}

/// Capacity of a kernel: full tiles of a grid, equal lines for every lane, accesses of 16 bytes.
template <class Shape>
inline constexpr int kSmallOrder = [] {
  constexpr bool kIsGrid = Shape::kLeast > 0 || Shape::kLanes >= 16;
  constexpr int kRound = Shape::kLanes == 32 ? 8 : kIsGrid ? 4 : larger(Shape::kLanes, 4);
  return (Shape::kOrder + kRound - 1) / kRound * kRound;
}();

/// A group of lanes works on matrix b, of that order; lanes without a matrix have order -1 and
/// execute the same code with an empty one, since the warp's barriers include all of them.
/// @param shared the group's. @param r lane of the group.
template <SmallTask kTask, bool kSwapped, class Share, class T>
__device__ __forceinline__ void work_on_small(const BatchProblem<T>& problem, int64_t b,
                                              int64_t order, T* shared, int r) {
  const bool active = order >= 0;
  const int n = active ? static_cast<int>(order) : 0;
  const int bound = problem.orders ? __reduce_max_sync(kFullWarp, n) : static_cast<int>(problem.n);
  LowerView<T> A{nullptr, 1, kSwapped};
  if (n > 0) A = lower_view(problem, b);

  Share share;
  if constexpr (kIsOfOne<kTask>)
    if (n > 0 && problem.rhs_count(b) > 0) share.B = problem.B.matrix(b);
  int info = 0;
  if constexpr (kFactors<kTask>) {
    info = share.factor(A, shared, n, bound, r);
    if (active && r == 0) problem.info[b] = info;
  } else {
    share.load(A, n, r);
  }
  if constexpr (kTask == SmallTask::factor_and_solve_one) {
    share.store(A, n, r);
    if (info != 0) share.B = nullptr;
    share.solve_factored(shared, n, bound);
  } else if constexpr (kTask == SmallTask::solve_one) {
    share.solve(shared, n, bound);
  } else {
    if constexpr (kTask != SmallTask::factor)
      solve_in_lines(problem, share, b, n > 0 && info == 0, n, bound, r, kSwapped);
    if constexpr (kFactors<kTask>) share.store(A, n, r);
  }
}

/// The checked order of matrix b; -1 if an argument is invalid, which is then reported in info.
template <class T>
__device__ __forceinline__ int64_t checked_order(const BatchProblem<T>& problem, int64_t b,
                                                 bool writes) {
  const int64_t order = problem.order(b);
  if (!problem.unchecked) return order;
  const int bad = problem.first_bad(b, order);
  if (bad && writes) problem.info[b] = -bad;
  return bad ? -1 : order;
}

/// The warps of a block share nothing.
/// @tparam N largest order, as kSmallOrder.
template <class T, int N, int kLanes, int kWarps, int kBlocks, SmallTask kTask, bool kSwapped>
__global__ void __launch_bounds__(32 * kWarps, kBlocks) small_kernel(BatchProblem<T> problem) {
  using Share = LanesShare<kTask, T, N, kLanes, kSwapped>;
  __shared__ __align__(16) T shared_of_warp[kWarps][Share::kShared];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int r = lane % kLanes, group = lane / kLanes;
  const int64_t slot = (int64_t(blockIdx.x) * kWarps + warp) * Share::kGroups + group;
  const int64_t b = problem.sequence && slot < problem.count ? problem.sequence[slot] : slot;
  int64_t order = -1;
  if (slot < problem.count)
    order = kTask == SmallTask::factor ? checked_order(problem, b, r == 0) : problem.order(b);
  work_on_small<kTask, kSwapped, Share>(problem, b, order,
                                        shared_of_warp[warp] + group * Share::kGroupShared, r);
}

}  // namespace chol::cuda
