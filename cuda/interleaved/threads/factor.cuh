// Factors, alone or with one right-hand side, by a few threads a matrix: the triangle is loaded
// completely, its last columns in their registers, the others in shared memory, and stays until the
// solution is found. Left-looking by block columns with as many columns as threads, so that each
// has the same number of rows below; every thread factors the diagonal blocks redundantly, which is
// cheaper than a synchronization. One warp a block, one instance an order.
#pragma once

#include "interleaved/threads/row_cyclic.cuh"

namespace chol::cuda {

/// As choose, but by a select instruction: for many choices the compiler generates divergent
/// branches.
__device__ __forceinline__ gpu_lane::VecF pick(bool first, gpu_lane::VecF x, gpu_lane::VecF y) {
  gpu_lane::VecF chosen;
  asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; selp.f32 %0, %1, %2, p; }"
      : "=f"(chosen.v)
      : "f"(x.v), "f"(y.v), "r"(int(first)));
  return chosen;
}
__device__ __forceinline__ gpu_lane::VecD pick(bool first, gpu_lane::VecD x, gpu_lane::VecD y) {
  gpu_lane::VecD chosen;
  asm("{ .reg .pred p; setp.ne.s32 p, %3, 0; selp.f64 %0, %1, %2, p; }"
      : "=d"(chosen.v)
      : "d"(x.v), "d"(y.v), "r"(int(first)));
  return chosen;
}
template <class V>
__device__ __forceinline__ gpu_lane::ComplexLane<V> pick(bool first, gpu_lane::ComplexLane<V> x,
                                                         gpu_lane::ComplexLane<V> y) {
  return {pick(first, x.re, y.re), pick(first, x.im, y.im)};
}

template <class E, int N, int kThreads, int kHeld>
struct HeldFactor : RowsOfThread<E, N, kThreads, kHeld> {
  using Rows = RowsOfThread<E, N, kThreads, kHeld>;
  using V = typename Rows::V;
  using Rows::element, Rows::exists, Rows::held, Rows::kRows, Rows::kShared, Rows::of_row,
      Rows::own, Rows::pivot, Rows::words, Rows::x;
  static constexpr int kMatrices = Rows::kMatrices;
  static constexpr int kSharedBlocks = kShared / kThreads;
  static_assert(kThreads > 1 && kShared % kThreads == 0);
  /// A thread's rows of a block column: `e[q][c]`.
  using Panel = gpu_lane::Tile<E, kRows, kThreads>;

  V info = V::zero();

  using Rows::Rows;

  /// Block column Q minus the products with earlier block columns in shared memory.
  template <int Q>
  __device__ __forceinline__ void subtract_shared(Panel& panel) const {
    constexpr int kBefore = Q < kSharedBlocks ? Q : kSharedBlocks;
    const E* column = words;  // address of row 0
#pragma unroll 1
    for (int b = 0; b < kBefore; ++b) {
#pragma unroll
      for (int c = 0; c < kThreads; ++c) {
        E pivot_rows[kThreads];
#pragma unroll
        for (int d = 0; d < kThreads; ++d)
          pivot_rows[d] = column[Q * kWarpThreads + (d - own) * kMatrices];
#pragma unroll
        for (int q = Q; q < kRows; ++q) {
          const E l = column[q * kWarpThreads];
#pragma unroll
          for (int d = 0; d < kThreads; ++d)
            panel.e[q][d] = gpu_lane::subtract<false, true>(panel.e[q][d], l, pivot_rows[d]);
        }
        // The last column of a block starts one row later.
        column += (kRows - b - (c + 2 >= kThreads)) * kWarpThreads;
      }
    }
  }
  /// The same for those in registers.
  template <int Q>
  __device__ __forceinline__ void subtract_held(Panel& panel) const {
#pragma unroll
    for (int j = kShared; j < Q * kThreads; ++j) {
      E pivot_rows[kThreads];
#pragma unroll
      for (int d = 0; d < kThreads; ++d) pivot_rows[d] = of_row(element(Q, j), d);
#pragma unroll
      for (int q = Q; q < kRows; ++q)
#pragma unroll
        for (int d = 0; d < kThreads; ++d)
          panel.e[q][d] =
              gpu_lane::subtract<false, true>(panel.e[q][d], element(q, j), pivot_rows[d]);
    }
  }

  /// Block column Q of the matrix.
  template <int Q>
  __device__ __forceinline__ Panel raw() const {
    Panel panel;
#pragma unroll
    for (int c = 0; c < kThreads; ++c) {
#pragma unroll
      for (int q = Q; q < kRows; ++q)
        panel.e[q][c] =
            q > Q || c + 1 < kThreads ? element(q, Q * kThreads + c) : gpu_lane::zero_element<E>();
      panel.e[Q][c] = pick(own == c, gpu_lane::from_real<E>(pivot(Q)), panel.e[Q][c]);
    }
    return panel;
  }

  /// Stores block column Q for later ones and, with kSolves, for backward substitution: each thread
  /// then has its own column of the diagonal block, in the row that no other thread reads.
  template <bool kSolves, int Q>
  __device__ __forceinline__ void keep(const Panel& panel,
                                       const gpu_lane::Tile<E, kThreads, kThreads>& block) {
    const auto put = [&](int q, int c, E l) {
      if constexpr (Q < kSharedBlocks)
        this->at_shared(q, Q * kThreads + c) = l;
      else
        held[q - Rows::kFirstHeld][Q * kThreads + c - kShared] = l;
    };
#pragma unroll
    for (int c = 0; c < kThreads; ++c) {
      if (kSolves && c + 1 < kThreads) {
        E below = block.e[c + 1][c];
#pragma unroll
        for (int k = 0; k < c; ++k) below = pick(own == k, block.e[c + 1][k], below);
        put(Q, c, below);
      }
#pragma unroll
      for (int q = Q + 1; q < kRows; ++q) put(q, c, panel.e[q][c]);
    }
  }
  /// @param corner element (own, 0) of the matrix.
  template <int Q>
  __device__ __forceinline__ void store(const Panel& panel, E* corner, int64_t rs, int64_t cs,
                                        bool stores) const {
#pragma unroll
    for (int c = 0; c < kThreads; ++c) {
      E* p = walked(corner + Q * kThreads * rs + (Q * kThreads + c) * cs);
#pragma unroll
      for (int q = Q; q < kRows; ++q) {
        if (stores && (q > Q || own >= c) && exists(q)) write_in_order(p, panel.e[q][c]);
        p = walked(p + kThreads * rs);
      }
    }
  }

  /// Block column Q and those after it. @tparam kSolves also x := inverse(L) x.
  template <bool kSolves, int Q = 0>
  __device__ __forceinline__ void factor(E* corner, int64_t rs, int64_t cs, bool stores) {
    this->template wait_for_columns<Q * kThreads, kThreads>();
    __syncwarp();
    Panel panel = raw<Q>();
    subtract_shared<Q>(panel);
    subtract_held<Q>(panel);
    gpu_lane::Tile<E, kThreads, kThreads> block;
#pragma unroll
    for (int i = 0; i < kThreads; ++i)
#pragma unroll
      for (int c = 0; c <= i; ++c) block.e[i][c] = of_row(panel.e[Q][c], i);
    V reciprocal[kThreads];
    gpu_lane::factor_tile(block, reciprocal, info, Q * kThreads);
    const LaneMatrix<E> L{&block.e[0][0], kThreads, 1};
    V own_reciprocal = reciprocal[0];
#pragma unroll
    for (int c = 1; c < kThreads; ++c)
      own_reciprocal = pick(own == c, reciprocal[c], own_reciprocal);
    pivot(Q) = own_reciprocal;
#pragma unroll
    for (int q = Q; q < kRows; ++q) {
      gpu_lane::Tile<E, 1, kThreads> row;
#pragma unroll
      for (int c = 0; c < kThreads; ++c) row.e[0][c] = panel.e[q][c];
      gpu_lane::solve_from_right(row, L, reciprocal);
#pragma unroll
      for (int c = 0; c < kThreads; ++c)
        panel.e[q][c] = q > Q ? row.e[0][c] : pick(own == c, block.e[c][c], row.e[0][c]);
    }
    keep<kSolves, Q>(panel, block);
    store<Q>(panel, corner, rs, cs, stores);
    if constexpr (kSolves) {
      gpu_lane::Tile<E, kThreads, 1> part;
#pragma unroll
      for (int c = 0; c < kThreads; ++c) part.e[c][0] = of_row(x[Q], c);
      gpu_lane::solve_forward<false>(part, L, reciprocal);
      x[Q] = part.e[0][0];
#pragma unroll
      for (int c = 1; c < kThreads; ++c) x[Q] = pick(own == c, part.e[c][0], x[Q]);
#pragma unroll
      for (int q = Q + 1; q < kRows; ++q)
#pragma unroll
        for (int c = 0; c < kThreads; ++c)
          x[q] = gpu_lane::subtract<false, false>(x[q], panel.e[q][c], part.e[c][0]);
    }
    if constexpr (Q + 1 < kRows) factor<kSolves, Q + 1>(corner, rs, cs, stores);
  }

  /// The sums over the threads of a matrix of v[0], v[1], ...: thread i gets the sum of v[i].
  template <int kCount>
  __device__ __forceinline__ E sum_of_own(const E (&v)[kCount]) const {
    if constexpr (kCount == 1) {
      return v[0];
    } else {
      constexpr int kHalf = kCount / 2;
      const bool upper = own & kHalf;
      E kept[kHalf];
#pragma unroll
      for (int c = 0; c < kHalf; ++c)
        kept[c] = sum(
            pick(upper, v[c + kHalf], v[c]),
            from_thread(pick(upper, v[c], v[c + kHalf]), int(threadIdx.x) ^ (kHalf * kMatrices)));
      return sum_of_own(kept);
    }
  }
  /// x := inverse(L^H) x, block by block from Q up: each thread sums the products of its rows for
  /// the block, receives the total for its own row, and solves within the block by the column that
  /// keep() has stored.
  template <int Q = kRows - 1>
  __device__ __forceinline__ void backward_blocks() {
    E taken[kThreads];
#pragma unroll
    for (int c = 0; c < kThreads; ++c) {
      taken[c] = gpu_lane::zero_element<E>();
#pragma unroll
      for (int q = kRows - 1; q > Q; --q)
        taken[c] = gpu_lane::subtract<true, false>(taken[c], element(q, Q * kThreads + c), x[q]);
    }
    E left = sum(x[Q], sum_of_own(taken));
    const V reciprocal = pivot(Q);
#pragma unroll
    for (int c = kThreads - 1; c >= 0; --c) {
      const E known = gpu_lane::scale(left, reciprocal);
      x[Q] = pick(own == c, known, x[Q]);
      if (c > 0)
        left = gpu_lane::subtract<true, false>(left, element(Q, Q * kThreads + c - 1),
                                               of_row(known, c));
    }
    if constexpr (Q > 0) backward_blocks<Q - 1>();
  }
};

template <class T, int N, InterleavedTask kTask, int kThreads, int kHeld>
__global__ void __launch_bounds__(kWarpThreads) threads_factor_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using Factor = HeldFactor<E, N, kThreads, kHeld>;
  extern __shared__ __align__(16) char shared_bytes[];
  const int64_t wanted = int64_t(blockIdx.x) * Factor::kMatrices + threadIdx.x % Factor::kMatrices;
  // Threads beyond the batch participate in warp-wide operations.
  const bool inside = wanted < call.batch;
  const int64_t b = inside ? wanted : call.batch - 1;
  const LaneMatrix<E> A = call.triangle(b), B = call.right_hand_sides(b);
  Factor L(shared_bytes, int(threadIdx.x), call.n);
  E* const corner = &A.at(L.own, 0);
  L.fetch(A);
  constexpr bool kSolves = kTask == InterleavedTask::factor_and_solve;
  if constexpr (kSolves) L.read(B, 0, call.swapped);
  L.template factor<kSolves>(corner, A.rs, A.cs, inside);
  if (inside && L.own == 0) call.info[b] = static_cast<int>(L.info.v);
  if constexpr (kSolves) {
    // Forces values in shared memory to be read again: kept in registers, they would cause spills.
    asm volatile("" ::: "memory");
    L.backward_blocks();
    L.write(B, 0, call.swapped, inside && is_zero(L.info));
  }
}

#ifndef __CUDACC_RTC__
template <InterleavedTask kTask>
struct HeldFactorTask {
  template <class T, int N, int kThreads, int kHeld>
  struct Kernel {
    static constexpr auto kKernel = threads_factor_kernel<T, N, kTask, kThreads, kHeld>;
  };
};

template <InterleavedTask kTask, int kPart, class T>
Status run_threads_factor(const InterleavedCall<T>& call, cudaStream_t stream) {
  return run_held<kTask, kPart, HeldFactorTask<kTask>::template Kernel>(call, stream);
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_THREADS_FACTOR(task, part, T)            \
  template chol::Status                                                       \
  chol::cuda::run_threads_factor<chol::cuda::InterleavedTask::task, part, T>( \
      const InterleavedCall<T>&, cudaStream_t);
