// Orders beyond a thread's registers: a block holds the triangles of a few matrices in shared
// memory and works on their rows with several threads a matrix.
//
// Left-looking by block columns (Gates, Kurzak, Luszczek, Pei, Dongarra 2017). kLanes matrices lie
// side by side; the rows of a block column go round over the `slots` threads of each matrix, so
// that neighbouring threads meet neighbouring addresses and every slot has the same number of rows.
// Block columns are fetched asynchronously while earlier ones are worked on, and rows leave for
// device memory as soon as they are done: every element moves in once and out once.
#pragma once

#include "interleaved/kernels.hpp"
#include "interleaved/shared_solve.cuh"

namespace chol::cuda {

/// The diagonal block of a block column, factored by every thread for itself: cheaper than to wait
/// for the one that would.
template <class E, int kNB>
struct DiagonalBlock {
  using V = gpu_lane::RealLaneOf<E>;
  gpu_lane::Tile<E, kNB, kNB> L;
  V reciprocal[kNB];
};

/// A thread's rows of a block column, kRows of them at most: first, first + slots, ...
template <class E, int kRows, int kNB, int kLanes>
struct RowSlice {
  using Panel = Trapezoid<E, kNB, kLanes>;
  gpu_lane::Tile<E, kRows, kNB> t;

  /// The first `count` rows, with the columns before block column J subtracted.
  template <int Q = kRows>
  __device__ __forceinline__ void load_updated(int count, const Panel& panel, int J, int first,
                                               int slots) {
    if (count < Q) {
      if constexpr (Q > 1) load_updated<Q - 1>(count, panel, J, first, slots);
      return;
    }
    auto part = gpu_lane::load_tile<Q, kNB>(panel.rows(first, J, slots));
#pragma unroll 1
    for (int K = 0; K < J; ++K)
      gpu_lane::subtract_product<false, true>(part, panel.rows(first, K, slots),
                                              panel.rows(J * kNB, K).transposed(), kNB);
    put(part);
  }
  template <int Q = kRows>
  __device__ __forceinline__ void solve(int count, const DiagonalBlock<E, kNB>& diagonal) {
    if (count < Q) {
      if constexpr (Q > 1) solve<Q - 1>(count, diagonal);
      return;
    }
    gpu_lane::Tile<E, Q, kNB> part;
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c) part.e[q][c] = t.e[q][c];
    const LaneMatrix<E> L{const_cast<E*>(&diagonal.L.e[0][0]), kNB, 1};
    gpu_lane::solve_from_right(part, L, diagonal.reciprocal);
    put(part);
  }
  template <int Q>
  __device__ __forceinline__ void put(const gpu_lane::Tile<E, Q, kNB>& part) {
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c) t.e[q][c] = part.e[q][c];
  }
};

template <class T, class Shape>
struct SharedFactor {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  static constexpr int kNB = Shape::kColumns, kLanes = Shape::kLanes, kRows = Shape::kRows;
  using Panel = Trapezoid<E, kNB, kLanes>;
  using Slice = RowSlice<E, kRows, kNB, kLanes>;

  Panel panel;
  LaneMatrix<E> A;
  int slot, slots;
  bool inside;
  V info;

  /// Rows first, first + slots, ... of block column J to device memory, and to shared memory where
  /// later block columns read them.
  __device__ __forceinline__ void store(const Slice& slice, int J, int first, bool keep_diagonal) {
    const int j0 = J * kNB, width = min(kNB, panel.n - j0);
    const LaneMatrix<E> out = A.from(first, j0);
    const LaneMatrix<E> kept = panel.rows(first, J, slots);
#pragma unroll
    for (int q = 0; q < kRows; ++q) {
      const int i = first + q * slots;
      if (i >= panel.n) continue;
      const int end = min(width, i - j0 + 1);
#pragma unroll
      for (int c = 0; c < kNB; ++c) {
        if (c >= end) continue;
        if (inside) out.at(q * slots, c) = slice.t.e[q][c];
        if (keep_diagonal || i >= j0 + kNB) kept.at(q, c) = slice.t.e[q][c];
      }
    }
  }

  /// The rows of the diagonal block to shared memory, where every thread reads all of them.
  __device__ __forceinline__ void publish(const Slice& slice, int J, int first) const {
    const LaneMatrix<E> to = panel.rows(first, J, slots);
#pragma unroll
    for (int q = 0; q < kRows; ++q) {
      const int i = first + q * slots - J * kNB;
      if (i >= kNB || i + J * kNB >= panel.n) continue;
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        if (c <= i) to.at(q, c) = slice.t.e[q][c];
    }
  }

  /// The factor's own diagonal elements into the rows that hold them.
  __device__ __forceinline__ static void set_diagonal(Slice& slice,
                                                      const DiagonalBlock<E, kNB>& diagonal,
                                                      int row, int slots) {
#pragma unroll
    for (int q = 0; q < kRows; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        slice.t.e[q][c] = choose(row + q * slots == c, diagonal.L.e[c][c], slice.t.e[q][c]);
  }

  __device__ __forceinline__ void factor_column(int J, bool keep_diagonal) {
    const int j0 = J * kNB;
    DiagonalBlock<E, kNB> diagonal;
    for (int first = j0; first < panel.n; first += kRows * slots) {
      const int count = (panel.n - first + slots - 1) / slots;
      Slice slice;
      slice.load_updated(count, panel, J, first + slot, slots);
      if (first == j0) {
        publish(slice, J, first + slot);
        __syncthreads();
        diagonal.L = gpu_lane::load_lower<kNB>(panel.rows(j0, J));
        gpu_lane::factor_tile(diagonal.L, diagonal.reciprocal, info, j0);
        if (keep_diagonal) __syncthreads();
      }
      slice.solve(count, diagonal);
      if (first == j0) set_diagonal(slice, diagonal, slot, slots);
      store(slice, J, first + slot, keep_diagonal);
    }
  }

  __device__ __forceinline__ void run(bool keep_diagonal) {
    const int blocks = Panel::blocks(panel.n);
    info = V::zero();
#pragma unroll 1
    for (int J = 0; J < blocks; ++J) {
      wait_for_copies(blocks - 1 - J);
      __syncthreads();
      factor_column(J, keep_diagonal);
    }
    // Columns past the edge of the last block have no pivots of their own.
    if (info.v > panel.n) info = V::zero();
  }
};

template <class T, class Shape, InterleavedTask kTask>
__global__ void __launch_bounds__(Shape::kMostThreads, Shape::kBlocks)
    shared_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using Solve = SharedSolve<T, Shape::kColumns, Shape::kLanes>;
  extern __shared__ __align__(16) char shared_bytes[];
  constexpr int kLanes = Shape::kLanes;
  const int lane = threadIdx.x % kLanes, slot = threadIdx.x / kLanes;
  const int slots = blockDim.x / kLanes;
  const int64_t wanted = int64_t(blockIdx.x) * kLanes + lane;
  const bool inside = wanted < call.batch;
  const int64_t b = inside ? wanted : call.batch - 1;
  E* const memory = reinterpret_cast<E*>(shared_bytes) + lane;
  const Trapezoid<E, Shape::kColumns, kLanes> panel{memory, call.n};
  const int columns = panel.elements(call.n, shared_slack(Shape::kColumns, slots)) * kLanes;
  const auto solve = [&](bool active, bool fetching) {
    const LaneMatrix<E> x{memory + columns + slot * Solve::column_elements(call.n), kLanes, 0};
    const Solve solver{panel, call.right_hand_sides(b), x, call.swapped};
    if (fetching && active && slot < call.solvers) solver.fetch(slot);
    if (fetching) fetch_triangles(panel, call);
    solver.run(call.nrhs, slot, call.solvers, active, fetching);
  };
  if constexpr (kTask == InterleavedTask::solve) {
    solve(inside && !call.failed(b), true);
  } else {
    SharedFactor<T, Shape> factor{panel, call.triangle(b), slot, slots, inside, {}};
    fetch_triangles(panel, call);
    factor.run(kTask == InterleavedTask::factor_and_solve);
    if (inside && slot == 0) call.info[b] = static_cast<int>(factor.info.v);
    if constexpr (kTask == InterleavedTask::factor_and_solve) {
      __syncthreads();
      solve(inside && is_zero(factor.info), false);
    }
  }
}

#ifndef __CUDACC_RTC__
template <class T, class Shape, InterleavedTask kTask>
Status launch_shared(InterleavedCall<T> call, int threads, cudaStream_t stream) {
  const SharedLaunch launch =
      prepare_shared<kTask>(call, {Shape::kColumns, Shape::kLanes, threads}, block_shared_limit());
  auto* kernel = shared_kernel<T, Shape, kTask>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, launch.bytes);
  if (error != cudaSuccess) return status_of(error, "interleaved: shared memory");
  kernel<<<launch.blocks, threads, launch.bytes, stream>>>(call);
  return launched("interleaved, shared memory");
}

/// Calls visit(shape) for the shape of that many columns and lanes, if it is built.
template <InterleavedTask kTask, class T, class Visit>
bool with_shape(int columns, int lanes, Visit&& visit) {
  using Shapes = InterleavedShapes<T>;
  const auto consider = [&]<class S>(S shape) {
    if (columns != S::kColumns || lanes != S::kLanes) return false;
    visit(shape);
    return true;
  };
  return [&]<class... S>(ShapeList<S...>) {
    return (consider(S{}) || ...);
  }(std::conditional_t<kTask == InterleavedTask::factor, typename Shapes::Factor,
                       typename Shapes::Solve>{});
}

template <InterleavedTask kTask, class T>
int64_t shared_need(int64_t n, int64_t solvers, int columns, int lanes, int threads) {
  int64_t need = -1;
  with_shape<kTask, T>(columns, lanes, [&]<class S>(S) {
    const SharedKnobs knobs{columns, lanes, threads};
    if (threads <= S::kMostThreads && shared_threads_fit(knobs, kTask != InterleavedTask::solve))
      need = shared_bytes<kTask>(sizeof(T), n, solvers, knobs);
  });
  return need;
}

template <InterleavedTask kTask, class T>
Status run_shared(const InterleavedCall<T>& call, int columns, int lanes, int threads,
                  cudaStream_t stream) {
  Status status;
  const bool found = with_shape<kTask, T>(columns, lanes, [&]<class S>(S) {
    status = launch_shared<T, S, kTask>(call, threads, stream);
  });
  return found ? status
               : Status::error(CHOL_STATUS_NOT_SUPPORTED,
                               "interleaved: no kernel of %d columns and %d lanes", columns, lanes);
}

#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_SHARED(task, T)                                               \
  template chol::Status chol::cuda::run_shared<chol::cuda::InterleavedTask::task, T>(              \
      const InterleavedCall<T>&, int, int, int, cudaStream_t);                                     \
  template int64_t chol::cuda::shared_need<chol::cuda::InterleavedTask::task, T>(int64_t, int64_t, \
                                                                                 int, int, int);
