// Variable batches of small orders in one launch without a sort before it: a block bins a part of
// the batch by size, and its warps take matrices of a bin. A bin has a shape of
// register/kernel.cuh, so that the cost of a matrix does not depend on the bound of the batch. Bins
// of orders beyond about 32 do not pay: too few matrices of a block share their instructions.
//
// Abdelfattah, Haidar, Tomov and Dongarra 2016, section 4, launch one block a matrix, which ends
// early if the matrix is small; here small matrices share warps.
#pragma once

#include <climits>

#include "batched/register/kernel.cuh"

namespace chol::cuda {

/// A block's part of the batch, binned by class, in shared memory.
template <class T, bool kSwapped, class Shape>
struct VbatchedShare;
template <class T, bool kSwapped, int kWarps, int kBlocks, class... Class>
struct VbatchedShare<T, kSwapped, VbatchedShape<kWarps, kBlocks, Class...>> {
  static constexpr int kClasses = sizeof...(Class);
  template <class C>
  using Lanes = LanesShare<SmallTask::factor, T, kSmallOrder<C>, C::kLanes, kSwapped>;
  /// Elements of a warp.
  static constexpr int kShared = larger(Lanes<Class>::kShared...);

  int matrices[32 * kWarps];  ///< indices within the part, class after class
  int orders[32 * kWarps];    ///< of the same
  int starts[kClasses + 1];   ///< of each class
  int counts[kClasses];
  int next;  ///< next free task

  /// One thread a matrix. Empty matrices, and those with an invalid argument, are finished here.
  __device__ __forceinline__ void deal_out(const BatchProblem<T>& problem, int64_t begin,
                                           int count) {
    const int thread = threadIdx.x;
    if (thread < kClasses) counts[thread] = 0;
    if (thread == 0) next = 0;
    __syncthreads();
    const int64_t b = begin + thread;
    const int order = thread < count ? static_cast<int>(checked_order(problem, b, true)) : -1;
    if (order == 0) problem.info[b] = 0;
    const int own_class = order > 0 ? class_of(order) : -1;
    const int rank = order > 0 ? atomicAdd(&counts[own_class], 1) : 0;
    __syncthreads();
    int start = 0;
#pragma unroll
    for (int c = 0; c < kClasses; ++c) {
      if (own_class == c) {
        matrices[start + rank] = thread;
        orders[start + rank] = order;
      }
      if (thread == 0) starts[c] = start;
      start += counts[c];
    }
    if (thread == 0) starts[kClasses] = start;
    __syncthreads();
  }

  /// The next task of the warp. @param shared of the warp. @return whether there was one.
  __device__ __forceinline__ bool work(const BatchProblem<T>& problem, int64_t begin, T* shared,
                                       int lane) {
    int task = 0;
    if (lane == 0) task = atomicAdd(&next, 1);
    return take<0, Class...>(problem, begin, __shfl_sync(kFullWarp, task, 0), shared, lane);
  }

 private:
  /// The smallest class that includes this order.
  __device__ static __forceinline__ int class_of(int order) {
    int least = INT_MAX, best = 0, c = 0;
    const auto consider = [&](int its_order) {
      if (order <= its_order && its_order < least) {
        least = its_order;
        best = c;
      }
      ++c;
    };
    (consider(Class::kOrder), ...);
    return best;
  }

  /// A task has as many matrices as a warp has groups of lanes. Tasks are numbered from the first
  /// one of class c, which has shape C, and continue through the classes in Rest.
  template <int c, class C, class... Rest>
  __device__ __forceinline__ bool take(const BatchProblem<T>& problem, int64_t begin, int task,
                                       T* shared, int lane) {
    using Share = Lanes<C>;
    const int first = starts[c], end = starts[c + 1];
    const int tasks = (end - first + Share::kGroups - 1) / Share::kGroups;
    if (task >= tasks) {
      if constexpr (sizeof...(Rest) == 0)
        return false;
      else
        return take<c + 1, Rest...>(problem, begin, task - tasks, shared, lane);
    }
    const int group = lane / C::kLanes, at = first + task * Share::kGroups + group;
    const bool has_one = at < end;
    work_on_small<SmallTask::factor, kSwapped, Share>(
        problem, has_one ? begin + matrices[at] : 0, has_one ? orders[at] : -1,
        shared + group * Share::kGroupShared, lane % C::kLanes);
    return true;
  }
};

/// @param share matrices of a block, at most its threads.
template <class T, bool kSwapped, class Shape>
__global__ void __launch_bounds__(32 * Shape::kWarps, Shape::kBlocks)
    vbatched_register_kernel(BatchProblem<T> problem, int share) {
  using Share = VbatchedShare<T, kSwapped, Shape>;
  __shared__ __align__(16) T shared_of_warp[Shape::kWarps][Share::kShared];
  __shared__ Share dealt;
  const int64_t begin = int64_t(blockIdx.x) * share, left = problem.count - begin;
  dealt.deal_out(problem, begin, static_cast<int>(left < share ? left : share));
  T* const shared = shared_of_warp[threadIdx.x / 32];
  while (dealt.work(problem, begin, shared, threadIdx.x % 32)) __syncwarp();
}

}  // namespace chol::cuda
