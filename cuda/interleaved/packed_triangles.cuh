// Lower triangles of several matrices, interleaved in shared memory.
#pragma once

#include "interleaved/block_shape.hpp"
#include "interleaved/call.cuh"

namespace chol::cuda {

/// Block columns NB wide, each as a rectangle from its diagonal down: element (i, j) of block
/// column J is at offset(J) + (j - J NB) height(J) + (i - J NB), times the kLanes interleaved
/// matrices. Elements above the diagonal inside a diagonal block are undefined.
template <class E, int kNB, int kLanes>
struct Trapezoid {
  E* lane;  ///< the caller's matrix: element (0, 0)
  int n;

  __host__ __device__ static constexpr int blocks(int n) { return (n + kNB - 1) / kNB; }
  __host__ __device__ static constexpr int offset(int n, int J) {
    return block_column_offset(n, kNB, J);
  }
  /// Elements of one matrix, and the `slack` that rows and columns past the edge may read.
  __host__ __device__ static constexpr int elements(int n, int slack) {
    return offset(n, blocks(n)) + slack;
  }
  __device__ __forceinline__ int height(int J) const { return n - kNB * J; }
  /// Rows from i down of block column J, every `step`th of them.
  __device__ __forceinline__ LaneMatrix<E> rows(int i, int J, int step = 1) const {
    return {lane + (offset(n, J) + i - kNB * J) * kLanes, step * kLanes, height(J) * kLanes};
  }
};

/// Asynchronous copies from global to shared memory, in commit groups.
template <class Unit>
__device__ __forceinline__ void copy_async(Unit* shared, const Unit* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  static_assert(sizeof(Unit) == 4 || sizeof(Unit) == 8 || sizeof(Unit) == 16);
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(global),
               "n"(sizeof(Unit)));
}
/// The same, or zero if there is no element.
template <class Unit>
__device__ __forceinline__ void copy_async_or_zero(Unit* shared, const Unit* global, bool present) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to), "l"(global),
               "n"(sizeof(Unit)), "r"(present ? int(sizeof(Unit)) : 0));
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
/// Waits until at most `pending` of the caller's commit groups are in flight.
__device__ __forceinline__ void wait_for_copies(int pending) {
  switch (pending) {
    case 0:
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      break;
    case 1:
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      break;
    case 2:
      asm volatile("cp.async.wait_group 2;" ::: "memory");
      break;
    case 3:
      asm volatile("cp.async.wait_group 3;" ::: "memory");
      break;
    case 4:
    case 5:
      asm volatile("cp.async.wait_group 4;" ::: "memory");
      break;
    case 6:
    case 7:
      asm volatile("cp.async.wait_group 6;" ::: "memory");
      break;
    default:
      asm volatile("cp.async.wait_group 8;" ::: "memory");
  }
}

/// Starts the copy of the triangles of a block, one commit group a block column. Adjacent threads
/// copy the `Unit`s of a row of kLanes elements, and every `rows`-th row.
/// @param from, to the matrix of the first element of the thread's unit.
template <class Unit, class E, int kNB, int kLanes>
__device__ __forceinline__ void fetch_triangle(const Trapezoid<E, kNB, kLanes>& to,
                                               LaneMatrix<E> from, int row, int rows, bool inside) {
#pragma unroll 1
  for (int J = 0; J * kNB < to.n; ++J) {
    const int j0 = J * kNB, width = min(kNB, to.n - j0);
#pragma unroll 1
    for (int i = j0 + row; inside && i < to.n; i += rows) {
      const LaneMatrix<E> out = to.rows(i, J);
      const E* p = &from.at(i, j0);
      const int end = min(width, i - j0 + 1);
#pragma unroll
      for (int c = 0; c < kNB; ++c, p += from.cs)
        if (c < end)
          copy_async(reinterpret_cast<Unit*>(&out.at(0, c)), reinterpret_cast<const Unit*>(p));
    }
    commit_copies();
  }
}

/// The same for a whole block: 16 bytes at a time if every row of the block is aligned.
template <class T, int kNB, int kLanes>
__device__ __forceinline__ void fetch_triangles(const Trapezoid<Lane<T>, kNB, kLanes>& panel,
                                                const InterleavedCall<T>& call) {
  using E = Lane<T>;
  const int64_t first = int64_t(blockIdx.x) * kLanes;
  const auto fetch = [&]<class Unit>(Unit) {
    constexpr int kWidth = sizeof(Unit) / sizeof(E), kUnits = kLanes / kWidth;
    const int unit = threadIdx.x % kUnits, own = threadIdx.x % kLanes;
    const int64_t b = first + unit * kWidth;
    const bool inside = b < call.batch;
    const Trapezoid<E, kNB, kLanes> to{panel.lane - own + unit * kWidth, panel.n};
    fetch_triangle<Unit>(to, call.triangle(inside ? b : first), threadIdx.x / kUnits,
                         blockDim.x / kUnits, inside);
  };
  if (call.aligned && sizeof(E) < sizeof(float4))
    fetch(float4{});
  else
    fetch(E{});
}

}  // namespace chol::cuda
