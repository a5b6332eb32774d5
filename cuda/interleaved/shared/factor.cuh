// Orders beyond a thread's registers: a block has the triangles of a few matrices in shared memory,
// with several threads a matrix.
//
// Left-looking by block columns (Gates, Kurzak, Luszczek, Pei, Dongarra 2017). kLanes matrices are
// interleaved; the rows of a block column are assigned cyclically to the `slots` threads of each
// matrix, so that adjacent threads access adjacent addresses and every slot has the same number of
// rows. Block columns are fetched asynchronously during the computation of earlier ones, and rows
// are written to device memory when finished: every element is read once and written once.
#pragma once

#include "interleaved/kernels.hpp"
#include "interleaved/shapes.hpp"
#include "interleaved/shared/solve.cuh"

namespace chol::cuda {

/// The diagonal block of a block column, factored redundantly by every thread, which is cheaper
/// than a synchronization.
template <class E, int kNB>
struct DiagonalBlock {
  using V = gpu_lane::RealLaneOf<E>;
  gpu_lane::Tile<E, kNB, kNB> L;
  V reciprocal[kNB];
};

template <class T, class Shape>
struct SharedFactor {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  static constexpr int kNB = Shape::kColumns, kLanes = Shape::kLanes, kRows = Shape::kRows;
  static constexpr int kSlots = Shape::kThreads / kLanes;  ///< threads of a matrix
  static_assert(kRows * kSlots >= kNB);
  using Panel = Trapezoid<E, kNB, kLanes>;
  /// A thread's rows of a block column: every kSlots-th one.
  using Slice = gpu_lane::Tile<E, kRows, kNB>;
  /// The first Q of them.
  template <int Q>
  using Rows = gpu_lane::Tile<E, Q, kNB>;

  /// The substitution step with a block of a single right-hand side.
  using Part = gpu_lane::Tile<E, kNB, 1>;

  Panel panel;
  LaneMatrix<E> A;
  int slot;
  bool inside;
  /// For a single right-hand side: x becomes inverse(L) x.
  const SharedSolveOne<T, kNB, kLanes, kSlots>& one;
  V info;

  template <int Q, class From, class To>
  __device__ __forceinline__ static void copy(const From& from, To& to) {
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c) to.e[q][c] = from.e[q][c];
  }

  /// Rows from `first` on of block column J, the columns before it subtracted.
  template <int Q>
  __device__ __forceinline__ Rows<Q> updated_rows(int J, int first) const {
    // Beyond the edge is the next column, which other threads write: if the last row does not
    // exist, it starts from zero and is updated with an existing row.
    constexpr int kLast = Q - 1;
    const bool exists = first + kLast * kSlots < panel.n;
    Rows<Q> rows;
    const LaneMatrix<E> from = panel.rows(first, J, kSlots);
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        rows.e[q][c] = q < kLast || exists ? from.at(q, c) : gpu_lane::zero_element<E>();
    const E* block = &panel.rows(J * kNB, 0).at(0, 0);  // the diagonal block's first row
    const E* own = &panel.rows(Q > 1 || exists ? first : J * kNB, 0).at(0, 0);
    const E* last = exists ? own + kLast * kSlots * kLanes : own;
    int height = panel.n;
#pragma unroll 1
    for (int K = 0; K < J; ++K) {
#pragma unroll
      for (int k = 0; k < kNB; ++k) {
        E a[Q];
#pragma unroll
        for (int q = 0; q < kLast; ++q) a[q] = own[q * kSlots * kLanes];
        a[kLast] = *last;
#pragma unroll
        for (int c = 0; c < kNB; ++c) {
          const E b = block[c * kLanes];
#pragma unroll
          for (int q = 0; q < Q; ++q)
            rows.e[q][c] = gpu_lane::subtract<false, true>(rows.e[q][c], a[q], b);
        }
        block += height * kLanes;
        own += height * kLanes;
        last += height * kLanes;
      }
      // A block column begins at its own first row.
      block -= kNB * kLanes;
      own -= kNB * kLanes;
      last -= kNB * kLanes;
      height -= kNB;
    }
    return rows;
  }

  /// Stores the rows of the diagonal block in shared memory, where every thread reads all of them.
  __device__ __forceinline__ void publish(const Slice& slice, int J) const {
    const LaneMatrix<E> to = panel.rows(J * kNB + slot, J, kSlots);
#pragma unroll
    for (int q = 0; q * kSlots < kNB; ++q) {
      const int i = slot + q * kSlots;
      if (i >= kNB || i + J * kNB >= panel.n) continue;
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        if (c <= i) to.at(q, c) = slice.e[q][c];
    }
  }

  /// Stores the factor's diagonal elements in the rows that contain them.
  __device__ __forceinline__ void set_diagonal(Slice& slice,
                                               const DiagonalBlock<E, kNB>& diagonal) const {
#pragma unroll
    for (int q = 0; q * kSlots < kNB; ++q)
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        slice.e[q][c] = choose(slot + q * kSlots == c, diagonal.L.e[c][c], slice.e[q][c]);
  }

  /// Stores rows first, first + kSlots, ... of block column J in device memory, and in shared
  /// memory for later block columns. @tparam kDiagonal some may be rows of the diagonal block.
  template <int Q, bool kDiagonal>
  __device__ __forceinline__ void store(const Slice& slice, int J, int first,
                                        bool keep_diagonal) const {
    const int j0 = J * kNB;
    const LaneMatrix<E> out = A.from(first, j0), kept = panel.rows(first, J, kSlots);
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const int i = first + q * kSlots;
      // Only the last row may be beyond the edge, so only there a test is needed.
      if (q == Q - 1 && i >= panel.n) continue;
      const bool whole = !kDiagonal || q * kSlots >= kNB || i >= j0 + kNB;
      E* to = &out.at(q * kSlots, 0);
#pragma unroll
      for (int c = 0; c < kNB; ++c, to += out.cs) {
        if (!whole && c > i - j0) continue;
        if (inside) *to = slice.e[q][c];
        if (keep_diagonal || whole) kept.at(q, c) = slice.e[q][c];
      }
    }
  }

  /// Block J of inverse(L) x, which every thread has in y.
  __device__ __forceinline__ void solve_diagonal(DiagonalBlock<E, kNB>& diagonal, Part& y,
                                                 int j0) const {
    const LaneMatrix<E> L{&diagonal.L.e[0][0], kNB, 1};
    gpu_lane::solve_forward<false>(y, L, diagonal.reciprocal);
    for_own<kNB, kSlots>(
        slot, [&](int i) { return y.e[i][0]; },
        [&](int i, const E& own) {
          if (j0 + i < panel.n) one.x[(j0 + i) * kLanes] = own;
        });
  }
  /// Replaces the diagonal in shared memory by its reciprocals after its rows are stored, by the
  /// threads that stored them.
  __device__ __forceinline__ void keep_reciprocals(const DiagonalBlock<E, kNB>& diagonal,
                                                   int J) const {
    const LaneMatrix<E> kept = panel.rows(J * kNB, J);
    for_own<kNB, kSlots>(
        slot, [&](int i) { return diagonal.reciprocal[i]; },
        [&](int i, const V& own) {
          if (J * kNB + i < panel.n) kept.at(i, i) = gpu_lane::from_real<E>(own);
        });
  }
  /// Subtracts the products with block J from the thread's rows of x below it.
  template <int Q>
  __device__ __forceinline__ void subtract_from_right_hand_side(const Rows<Q>& rows, const Part& y,
                                                                int j0, int first) const {
#pragma unroll
    for (int q = 0; q < Q; ++q) {
      const int i = first + q * kSlots;
      if (i < j0 + kNB || i >= panel.n) continue;
      E& left = one.x[i * kLanes];
      E sum = left;
#pragma unroll
      for (int c = 0; c < kNB; ++c)
        sum = gpu_lane::subtract<false, false>(sum, rows.e[q][c], y.e[c][0]);
      left = sum;
    }
  }

  /// @param solves whether a single right-hand side is solved together with the block column.
  __device__ __forceinline__ void factor_column(int J, bool keep_diagonal, bool solves) {
    const int j0 = J * kNB;
    DiagonalBlock<E, kNB> diagonal;
    Part y;
#pragma unroll 1
    for (int first = j0; first < panel.n; first += kRows * kSlots) {
      const int count = (panel.n - first + kSlots - 1) / kSlots;
      Slice slice;
      gpu_lane::with_count<kRows>(count, [&](auto rows) {
        constexpr int Q = decltype(rows)::value;
        copy<Q>(updated_rows<Q>(J, first + slot), slice);
      });
      if (first == j0) {
        // A partial block column was read beyond the edge.
        if (j0 + kNB > panel.n) __syncthreads();
        publish(slice, J);
        __syncthreads();
        diagonal.L = gpu_lane::load_lower<kNB>(panel.rows(j0, J));
        gpu_lane::factor_tile(diagonal.L, diagonal.reciprocal, info, j0);
        if (solves) y = read_part<kNB, kLanes>(one.x + j0 * kLanes, panel.n - j0);
        if (keep_diagonal) __syncthreads();
        if (solves) solve_diagonal(diagonal, y, j0);
      }
      gpu_lane::with_count<kRows>(count, [&](auto rows) {
        constexpr int Q = decltype(rows)::value;
        Rows<Q> part;
        copy<Q>(slice, part);
        const LaneMatrix<E> L{&diagonal.L.e[0][0], kNB, 1};
        gpu_lane::solve_from_right(part, L, diagonal.reciprocal);
        copy<Q>(part, slice);
        if (solves) subtract_from_right_hand_side(part, y, j0, first + slot);
        if (first == j0) {
          set_diagonal(slice, diagonal);
          store<Q, true>(slice, J, first + slot, keep_diagonal);
          if (solves) keep_reciprocals(diagonal, J);
        } else {
          store<Q, false>(slice, J, first + slot, keep_diagonal);
        }
      });
    }
  }

  __device__ __forceinline__ void run(bool keep_diagonal, bool solves) {
    const int blocks = Panel::blocks(panel.n);
    info = V::zero();
#pragma unroll 1
    for (int J = 0; J < blocks; ++J) {
      wait_for_copies(blocks - 1 - J);
      if (solves && J == 0) one.receive();
      __syncthreads();
      factor_column(J, keep_diagonal, solves);
    }
    // Columns past the edge of the last block have no pivots.
    if (info.v > panel.n) info = V::zero();
  }
};

template <class T, class Shape, InterleavedTask kTask>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    shared_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using Solve = SharedSolve<T, Shape::kColumns, Shape::kLanes>;
  extern __shared__ __align__(16) char shared_bytes[];
  constexpr int kLanes = Shape::kLanes;
  const int lane = threadIdx.x % kLanes, slot = threadIdx.x / kLanes;
  constexpr int slots = Shape::kThreads / kLanes;
  const int64_t wanted = int64_t(blockIdx.x) * kLanes + lane;
  const bool inside = wanted < call.batch;
  const int64_t b = inside ? wanted : call.batch - 1;
  E* const memory = reinterpret_cast<E*>(shared_bytes) + lane;
  const Trapezoid<E, Shape::kColumns, kLanes> panel{memory, call.n};
  const int columns = panel.elements(call.n, shared_slack(Shape::kColumns, slots)) * kLanes;
  E* const beyond = memory + columns;
  const SharedSolveOne<T, Shape::kColumns, kLanes, slots> solve_one{
      panel,       call.right_hand_sides(b), beyond, beyond + Solve::column_elements(call.n), slot,
      call.swapped};
  const bool one = kTask != InterleavedTask::factor && Shape::kRows > 1 && call.nrhs == 1;
  const auto solve = [&](bool active, bool fetching) {
    const LaneMatrix<E> x{beyond + slot * Solve::column_elements(call.n), kLanes, 0};
    const Solve solver{panel, call.right_hand_sides(b), x, call.swapped};
    if (fetching && active && slot < call.solvers) solver.fetch(slot);
    if (fetching) fetch_triangles(panel, call);
    solver.run(call.nrhs, slot, call.solvers, active, fetching);
  };
  if constexpr (kTask == InterleavedTask::solve) {
    const bool good = inside && !call.failed(b);
    if (one) {
      solve_one.fetch();
      fetch_triangles(panel, call);
      solve_one.run(good);
    } else {
      solve(good, true);
    }
  } else {
    SharedFactor<T, Shape> factor{panel, call.triangle(b), slot, inside, solve_one, {}};
    if (one) solve_one.fetch();
    fetch_triangles(panel, call);
    factor.run(kTask == InterleavedTask::factor_and_solve, one);
    if (inside && slot == 0) call.info[b] = static_cast<int>(factor.info.v);
    if constexpr (kTask == InterleavedTask::factor_and_solve) {
      const bool good = inside && is_zero(factor.info);
      if (one) {
        solve_one.template run_back<true>(solve_one.x, good);
      } else {
        __syncthreads();
        solve(good, false);
      }
    }
  }
}

}  // namespace chol::cuda
