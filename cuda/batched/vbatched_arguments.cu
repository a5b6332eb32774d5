#include <algorithm>
#include <cub/block/block_scan.cuh>

#include "batched/vbatched_arguments.hpp"
#include "common/launch.hpp"
#include "common/precisions.hpp"
#include "common/programmatic_launch.cuh"

namespace chol::cuda {
namespace {

/// The arguments of a matrix, read together.
template <class T>
struct Arguments {
  int64_t n, nrhs = 0, lda, ldb = 1;
  const T *A, *B = nullptr;

  __device__ __forceinline__ Arguments() = default;
  __device__ __forceinline__ Arguments(const VariableCheck<T>& check, int64_t b)
      : n(__ldg(check.n + b)), lda(__ldg(check.A.lds + b)), A(read_pointer(check.A.pointers + b)) {
    if (!check.nrhs) return;
    nrhs = __ldg(check.nrhs + b);
    ldb = __ldg(check.B.lds + b);
    B = read_pointer(check.B.pointers + b);
  }
  __device__ __forceinline__ static const T* read_pointer(T* const* where) {
    return reinterpret_cast<const T*>(__ldg(reinterpret_cast<const unsigned long long*>(where)));
  }
  /// Position of the first bad argument, or 0.
  __device__ __forceinline__ int first_bad(const VariableCheck<T>& check) const {
    const int64_t floor = n > 1 ? n : 1;
    if (n < 0 || n > check.max_n) return check.position.n;
    if (check.nrhs && (nrhs < 0 || nrhs > check.max_nrhs)) return check.position.nrhs;
    if (n > 0 && !A) return check.position.A;
    if (lda < floor) return check.position.lda;
    if (!check.nrhs) return 0;
    if (n > 0 && nrhs > 0 && !B) return check.position.B;
    return ldb < floor ? check.position.ldb : 0;
  }
  /// Writes what the check of matrix b leaves. @return its order, or -1.
  __device__ __forceinline__ int64_t settle(const VariableCheck<T>& check, int64_t b) const {
    const int bad = first_bad(check);
    const int64_t order = bad ? -1 : n;
    check.orders[b] = order;
    if (check.rhs_counts) check.rhs_counts[b] = bad ? 0 : nrhs;
    if (bad && check.info) check.info[b] = -bad;
    return order;
  }
};

/// Calls body(item, b, order) for up to kItems matrices `step` apart from `first` on; all are read
/// before the first is processed.
template <int kItems, class T, class Body>
__device__ __forceinline__ void check_items(const VariableCheck<T>& check, int64_t first,
                                            int64_t step, Body&& body) {
  Arguments<T> arguments[kItems];
#pragma unroll
  for (int item = 0; item < kItems; ++item)
    if (first + item * step < check.count) arguments[item] = {check, first + item * step};
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const int64_t b = first + item * step;
    if (b < check.count) body(item, b, arguments[item].settle(check, b));
  }
}

// A counting sort over classes of orders, one thread of a block a class.
constexpr int kClasses = 512;
constexpr int kItemsOfThread = 2;
constexpr int kShare = kClasses * kItemsOfThread;  ///< matrices of a block

/// @param scale classes of an order; a float, since 64-bit integers divide slowly.
__device__ __forceinline__ int class_of(int64_t order, float scale) {
  return max(kClasses - 1 - static_cast<int>(float(max(int(order), 0)) * scale), 0);
}

template <class T>
__global__ void __launch_bounds__(kClasses) check_kernel(VariableCheck<T> check) {
  check_items<1>(check, int64_t(blockIdx.x) * kClasses + threadIdx.x, 0,
                 [](int, int64_t, int64_t) {});
}

/// As check_kernel, and counts[c] += matrices of class c.
template <class T>
__global__ void __launch_bounds__(kClasses)
    check_and_count_kernel(VariableCheck<T> check, float scale, unsigned* counts) {
  __shared__ unsigned own[kClasses];
  const int t = threadIdx.x;
  let_next_kernel_start();
  own[t] = 0;
  __syncthreads();
  check_items<kItemsOfThread>(
      check, int64_t(blockIdx.x) * kShare + t, kClasses,
      [&](int, int64_t, int64_t order) { atomicAdd(&own[class_of(order, scale)], 1u); });
  __syncthreads();
  if (own[t]) atomicAdd(&counts[t], own[t]);
}

/// Assigns positions to the matrices of the block. @param counts of each class in the whole batch.
/// @param taken positions of each class already assigned, 0 before.
__global__ void __launch_bounds__(kClasses)
    place_kernel(const int64_t* orders, int64_t count, float scale, const unsigned* counts,
                 unsigned* taken, unsigned* matrices) {
  using Scan = cub::BlockScan<unsigned, kClasses>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ unsigned own[kClasses], first[kClasses];
  const int t = threadIdx.x;
  let_next_kernel_start();
  wait_for_kernels_before();
  own[t] = 0;
  unsigned start = 0;
  Scan(scan).ExclusiveSum(counts[t], start);
  __syncthreads();
  int its_class[kItemsOfThread];
  unsigned rank[kItemsOfThread];
#pragma unroll
  for (int item = 0; item < kItemsOfThread; ++item) {
    const int64_t b = int64_t(blockIdx.x) * kShare + item * kClasses + t;
    its_class[item] = b < count ? class_of(orders[b], scale) : -1;
    if (b < count) rank[item] = atomicAdd(&own[its_class[item]], 1u);
  }
  __syncthreads();
  first[t] = start + (own[t] ? atomicAdd(&taken[t], own[t]) : 0u);
  __syncthreads();
#pragma unroll
  for (int item = 0; item < kItemsOfThread; ++item)
    if (its_class[item] >= 0)
      matrices[first[its_class[item]] + rank[item]] = blockIdx.x * kShare + item * kClasses + t;
}

__global__ void largest_kernel(const int64_t* values, int64_t count, int64_t* largest) {
  __shared__ long long most;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  long long own = 0;
  for (int64_t b = threadIdx.x; b < count; b += blockDim.x) own = max(own, (long long)values[b]);
  atomicMax(&most, own);
  __syncthreads();
  if (threadIdx.x == 0) *largest = most;
}

unsigned blocks_for(int64_t items, int64_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

}  // namespace

Sequence Sequence::carve(Arena& arena, int64_t count) {
  Sequence sequence;
  sequence.matrices = arena.take<unsigned>(count);
  sequence.counters = arena.take<unsigned>(2 * kClasses);
  return sequence;
}

template <class T>
Status check_variable(const VariableCheck<T>& check, const Sequence& sequence,
                      cudaStream_t stream) {
  const float scale = float(kClasses - 1) / float(std::max<int64_t>(check.max_n, 1));
  if (!sequence.matrices) {
    check_kernel<<<blocks_for(check.count, kClasses), kClasses, 0, stream>>>(check);
  } else {
    unsigned* const counts = sequence.counters;
    unsigned* const taken = counts + kClasses;
    const Status status =
        status_of(cudaMemsetAsync(counts, 0, 2 * kClasses * sizeof(unsigned), stream),
                  "variable batch: counters");
    if (!status.ok()) return status;
    const unsigned blocks = blocks_for(check.count, kShare);
    check_and_count_kernel<<<blocks, kClasses, 0, stream>>>(check, scale, counts);
    const Status counted = launched("argument check");
    if (!counted.ok()) return counted;
    return launch_as(true, "sort by orders", place_kernel, blocks, kClasses, 0, stream,
                     check.orders, check.count, scale, counts, taken, sequence.matrices);
  }
  return launched("argument check");
}

Status largest_value(const int64_t* values, int64_t count, int64_t* largest, cudaStream_t stream) {
  largest_kernel<<<1, 1024, 0, stream>>>(values, count, largest);
  return launched("largest order");
}

#define CHOL_INSTANTIATE(T) \
  template Status check_variable<T>(const VariableCheck<T>&, const Sequence&, cudaStream_t);
CHOL_FOR_EACH_DEVICE_TYPE(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda
