// Substitution with triangles in shared memory: one thread a right-hand side.
#pragma once

#include "interleaved/trapezoid.cuh"

namespace chol::cuda {

/// Right-hand sides of the kLanes matrices of a block; thread `slot` of a matrix takes every
/// slots-th of them, one at a time, in a column of shared memory that no other thread meets.
template <class T, int kNB, int kLanes>
struct SharedSolve {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  using Panel = Trapezoid<E, kNB, kLanes>;

  Panel panel;
  LaneMatrix<E> B;  ///< in device memory
  LaneMatrix<E> x;  ///< the thread's column in shared memory
  bool conjugated;

  /// Elements of shared memory that a thread's column takes.
  __host__ __device__ static constexpr int column_elements(int n) { return n * kLanes; }

  __device__ __forceinline__ void fetch(int64_t c) const {
    for (int i = 0; i < panel.n; ++i) copy_async(&x.at(i, 0), &B.at(i, c));
  }

  template <int N>
  __device__ __forceinline__ static void invert_diagonal(LaneMatrix<E> L, V (&reciprocal)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) reciprocal[i] = invert(real_part(L.at(i, i)));
  }

  /// Block J of inverse(L) b, which stands in x still as it was read.
  __device__ __forceinline__ void forward(int J) const {
    const int j0 = J * kNB;
    gpu_lane::with_count<kNB>(panel.height(J), [&](auto rows) {
      constexpr int N = decltype(rows)::value;
      auto t = gpu_lane::load_tile<N, 1>(x.from(j0, 0));
#pragma unroll
      for (int i = 0; i < N; ++i) t.e[i][0] = conj_if(conjugated, t.e[i][0]);
#pragma unroll 1
      for (int K = 0; K < J; ++K)
        gpu_lane::subtract_product<false, false>(t, panel.rows(j0, K), x.from(K * kNB, 0), kNB);
      V reciprocal[N];
      invert_diagonal(panel.rows(j0, J), reciprocal);
      gpu_lane::solve_forward<false>(t, panel.rows(j0, J), reciprocal);
      gpu_lane::store_tile(t, x.from(j0, 0));
    });
  }
  /// Block J of inverse(L^H) x, to column c of B as well.
  __device__ __forceinline__ void backward(int J, int64_t c) const {
    const int j0 = J * kNB;
    gpu_lane::with_count<kNB>(panel.height(J), [&](auto rows) {
      constexpr int N = decltype(rows)::value;
      auto t = gpu_lane::load_tile<N, 1>(x.from(j0, 0));
      if constexpr (N == kNB)
        gpu_lane::subtract_product<true, false>(t, panel.rows(j0 + kNB, J).transposed(),
                                                x.from(j0 + kNB, 0), panel.height(J) - kNB);
      V reciprocal[N];
      invert_diagonal(panel.rows(j0, J), reciprocal);
      gpu_lane::solve_backward<true>(t, panel.rows(j0, J), reciprocal);
      gpu_lane::store_tile(t, x.from(j0, 0));
#pragma unroll
      for (int i = 0; i < N; ++i) B.at(j0 + i, c) = conj_if(conjugated, t.e[i][0]);
    });
  }

  /// Right-hand sides slot, slot + solvers, ... where slot < solvers.
  /// @param active whether the thread's matrix is to be solved.
  /// @param fetching the triangle is on its way, one commit group a block column.
  __device__ __forceinline__ void run(int64_t nrhs, int slot, int solvers, bool active,
                                      bool fetching) const {
    const int blocks = Panel::blocks(panel.n);
    for (int64_t first = 0; first < nrhs; first += solvers) {
      const int64_t c = first + slot;
      const bool works = active && slot < solvers && c < nrhs;
      const bool waiting = fetching && first == 0;
      if (!waiting) {
        if (works) fetch(c);
        commit_copies();
        wait_for_copies(0);
      }
#pragma unroll 1
      for (int J = 0; J < blocks; ++J) {
        if (waiting) {
          wait_for_copies(blocks - 1 - J);
          __syncthreads();
        }
        if (works) forward(J);
      }
      if (!works) continue;
#pragma unroll 1
      for (int J = blocks - 1; J >= 0; --J) backward(J, c);
    }
  }
};

}  // namespace chol::cuda
