// Substitution with triangles in shared memory: one thread a right-hand side or, for a single one,
// all threads of a matrix together.
#pragma once

#include "interleaved/packed_triangles.cuh"

namespace chol::cuda {

/// Right-hand sides of the kLanes matrices of a block; thread `slot` of a matrix takes every
/// slots-th of them, one at a time, in a column of shared memory used by no other thread.
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

  /// Block J of inverse(L) b; x still contains b.
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
  /// Block J of inverse(L^H) x, also stored in column c of B.
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
  /// @param fetching the triangle is being copied, one commit group a block column.
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

/// The first kNB elements of a vector, zeros from `rows` on.
template <int kNB, int kLanes, class E>
__device__ __forceinline__ gpu_lane::Tile<E, kNB, 1> read_part(const E* from, int rows) {
  gpu_lane::Tile<E, kNB, 1> part;
#pragma unroll
  for (int i = 0; i < kNB; ++i)
    part.e[i][0] = i < rows ? from[i * kLanes] : gpu_lane::zero_element<E>();
  return part;
}

/// Calls body(i, element(i)) for i = slot, slot + kSlots, ... below N, element with a constant:
/// stores values that every thread of a matrix has in registers, distributed over the threads
/// without branches.
template <int N, int kSlots, class Element, class Body>
__device__ __forceinline__ void for_own(int slot, Element&& element, Body&& body) {
#pragma unroll
  for (int first = 0; first < N; first += kSlots) {
    auto own = element(first);
#pragma unroll
    for (int k = 1; k < kSlots && first + k < N; ++k)
      own = choose(slot == k, element(first + k), own);
    if (first + slot < N) body(first + slot, own);
  }
}

/// A single right-hand side of each of the kLanes matrices of a block, solved by all kSlots threads
/// of the matrix: each solves with the diagonal block redundantly, which is cheaper than a
/// synchronization, and updates its share of the other elements.
template <class T, int kNB, int kLanes, int kSlots>
struct SharedSolveOne {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  using Panel = Trapezoid<E, kNB, kLanes>;
  using Part = gpu_lane::Tile<E, kNB, 1>;

  Panel panel;
  LaneMatrix<E> B;  ///< in device memory
  E* x;             ///< in shared memory: the right-hand side, updated
  E* y;             ///< in shared memory: inverse(L) b, updated
  int slot;
  bool conjugated;

  /// Starts the copies of the right-hand side; they belong to the next group.
  __device__ __forceinline__ void fetch() const {
    for (int i = slot; i < panel.n; i += kSlots) copy_async(x + i * kLanes, &B.at(i, 0));
  }
  /// To be called after the thread's own copies have arrived, before the barrier.
  __device__ __forceinline__ void receive() const {
    if (sizeof(E) > sizeof(V) && conjugated)
      for (int i = slot; i < panel.n; i += kSlots) x[i * kLanes] = conj_if(true, x[i * kLanes]);
  }

  struct Diagonal {
    gpu_lane::Tile<E, kNB, kNB> L;
    V reciprocal[kNB];
    __device__ __forceinline__ LaneMatrix<E> matrix() { return {&L.e[0][0], kNB, 1}; }
  };
  /// Diagonal block J, padded by the identity past the edge. @tparam kInverted its diagonal is
  /// stored as reciprocals.
  template <bool kInverted>
  __device__ __forceinline__ Diagonal diagonal(int J, int rows) const {
    Diagonal d;
    const LaneMatrix<E> from = panel.rows(J * kNB, J);
#pragma unroll
    for (int i = 0; i < kNB; ++i) {
#pragma unroll
      for (int c = 0; c <= i; ++c)
        d.L.e[i][c] =
            i < rows ? from.at(i, c) : gpu_lane::from_real<E>(V::broadcast(i == c ? 1 : 0));
      const V pivot = gpu_lane::real_part(d.L.e[i][i]);
      d.reciprocal[i] = kInverted ? pivot : gpu_lane::invert(pivot);
    }
    return d;
  }

  /// Part J of inverse(L) b, stored in y, and the update of the following parts.
  __device__ __forceinline__ void forward(int J) const {
    const int j0 = J * kNB, rows = min(kNB, panel.n - j0);
    Diagonal d = diagonal<false>(J, rows);
    Part part = read_part<kNB, kLanes>(x + j0 * kLanes, rows);
    gpu_lane::solve_forward<false>(part, d.matrix(), d.reciprocal);
    for_own<kNB, kSlots>(
        slot, [&](int i) { return part.e[i][0]; },
        [&](int i, const E& own) {
          if (i < rows) y[(j0 + i) * kLanes] = own;
        });
    const int height = panel.height(J);
    for (int i = kNB + slot; i < height; i += kSlots) {
      const E* l = &panel.rows(j0 + i, J).at(0, 0);
      E& left = x[(j0 + i) * kLanes];
      E sum = left;
#pragma unroll
      for (int c = 0; c < kNB; ++c, l += height * kLanes)
        sum = gpu_lane::subtract<false, false>(sum, *l, part.e[c][0]);
      left = sum;
    }
  }
  /// Part J of inverse(L^H) of the vector at `left`, stored in B, and the update of the previous
  /// parts.
  template <bool kInverted>
  __device__ __forceinline__ void backward(E* left, int J, bool stores) const {
    const int j0 = J * kNB, rows = min(kNB, panel.n - j0);
    Diagonal d = diagonal<kInverted>(J, rows);
    Part part = read_part<kNB, kLanes>(left + j0 * kLanes, rows);
    gpu_lane::solve_backward<true>(part, d.matrix(), d.reciprocal);
    for_own<kNB, kSlots>(
        slot, [&](int i) { return part.e[i][0]; },
        [&](int i, const E& own) {
          if (i < rows && stores) B.at(j0 + i, 0) = conj_if(conjugated, own);
        });
#pragma unroll 2
    for (int k = slot; k < j0; k += kSlots) {
      const int K = k / kNB;
      const E* l = &panel.rows(j0, K).at(0, k % kNB);
      E sum = left[k * kLanes];
#pragma unroll
      for (int i = 0; i < kNB; ++i)
        if (i < rows) sum = gpu_lane::subtract<true, false>(sum, l[i * kLanes], part.e[i][0]);
      left[k * kLanes] = sum;
    }
  }
  /// All parts, starting with the last one.
  template <bool kInverted>
  __device__ __forceinline__ void run_back(E* left, bool stores) const {
#pragma unroll 1
    for (int J = Panel::blocks(panel.n) - 1; J >= 0; --J) {
      __syncthreads();
      backward<kInverted>(left, J, stores);
    }
  }

  /// While the triangle is being copied, one commit group a block column, the first one together
  /// with that of fetch().
  __device__ __forceinline__ void run(bool stores) const {
    const int blocks = Panel::blocks(panel.n);
#pragma unroll 1
    for (int J = 0; J < blocks; ++J) {
      wait_for_copies(blocks - 1 - J);
      if (J == 0) receive();
      __syncthreads();
      forward(J);
    }
    run_back<false>(y, stores);
  }
};

}  // namespace chol::cuda
