// The right-hand side fused into thread/left_looking.cuh.
#pragma once

#include "interleaved/thread/column_access.cuh"

namespace chol::cuda {

/// A single right-hand side. Finished rows of the factor up to row kSettled, with their right-hand
/// side entries, are moved to shared memory; the others stay in registers.
template <class E, int N, int kKept, int kSettled>
struct ColumnSolve {
  using V = gpu_lane::RealLaneOf<E>;
  using Walk = ColumnWalk<E, N, kKept, kSettled>;
  using Factor = gpu_lane::Tile<E, N, N>;

  E x[N];
  V inverse[N];

  /// Row J of inverse(L) b, and the update of the following rows.
  template <int J>
  __device__ __forceinline__ void forward(const Factor& L, const Walk& A, V reciprocal) {
    inverse[J] = reciprocal;
    x[J] = gpu_lane::scale(x[J], reciprocal);
#pragma unroll
    for (int i = J + 1; i < N; ++i) x[i] = gpu_lane::subtract<false, false>(x[i], L.e[i][J], x[J]);
    if constexpr (J < kSettled) {
#pragma unroll
      for (int k = kKept; k < J; ++k) A.settled(J, k) = L.e[J][k];
      A.settled(J, J) = gpu_lane::from_real<E>(reciprocal);
      A.settled(J, J + 1) = x[J];
    }
  }
  /// Stores inverse(L^H) of that in memory, one row of L at a time, the last one first.
  __device__ __forceinline__ void backward(const Factor& L, const Walk& A, LaneMatrix<E> B,
                                           bool conjugated) {
#pragma unroll
    for (int i = 0; i < kSettled; ++i) x[i] = A.settled(i, i + 1);
    E* to = &B.at(N - 1, 0);
    const auto write = [&](E element) {
      write_in_order(to, conj_if(conjugated, element));
      to = walked(to - B.rs);
    };
    backward_held<N - 1>(L, A, write);
    if constexpr (kFirstLooped < kSettled) backward_settled(A, write);
    backward_first<kFirstLooped - 1>(A, write);
  }

  template <int I, class Write>
  __device__ __forceinline__ void backward_held(const Factor& L, const Walk& A,
                                                const Write& write) {
    if constexpr (I >= kSettled) {
      x[I] = gpu_lane::scale(x[I], inverse[I]);
      write(x[I]);
#pragma unroll
      for (int k = 0; k < I; ++k)
        x[k] = gpu_lane::subtract<true, false>(x[k], k < kKept ? A.kept(I, k) : L.e[I][k], x[I]);
      backward_held<I - 1>(L, A, write);
    }
  }

  /// First row of the loop over rows in shared memory: enough words before its pivot for the reads
  /// of the loop.
  static constexpr int first_looped() {
    int i = kKept < kSettled ? kKept : kSettled;
    while (i < kSettled &&
           kept_offset(N, kKept) + settled_offset(kKept, i) + i - kKept < kSettled - 1 - kKept)
      ++i;
    return i;
  }
  static constexpr int kFirstLooped = first_looped();

  /// The element of a row is always x[kSettled - 1]: the update of a row shifts the others by one,
  /// so that one loop body serves all rows. Words read before the row go to elements that are no
  /// longer used.
  template <class Write>
  __device__ __forceinline__ void backward_settled(const Walk& A, const Write& write) {
    constexpr int kLast = kSettled - 1;
    const E* pivot = &A.settled(kLast, kLast);
    const E* first = &A.kept(kLast, 0);
#pragma unroll 1
    for (int i = kLast; i >= kFirstLooped; --i) {
      const E element = gpu_lane::scale(x[kLast], real_part(*pivot));
      write(element);
#pragma unroll
      for (int k = 0; k < kKept; ++k)
        x[k] = gpu_lane::subtract<true, false>(
            x[k], first[(kept_offset(N, k) - k) * kColumnThreads], element);
#pragma unroll
      for (int k = kLast; k > kKept; --k)
        x[k] = gpu_lane::subtract<true, false>(x[k - 1], pivot[(k - kSettled) * kColumnThreads],
                                               element);
      pivot -= (i - kKept + 2) * kColumnThreads;
      first -= kColumnThreads;
    }
  }
  template <int I, class Write>
  __device__ __forceinline__ void backward_first(const Walk& A, const Write& write) {
    if constexpr (I >= 0) {
      const auto at = [&](int k) -> E& { return x[k < kKept ? k : k + kSettled - kFirstLooped]; };
      const E element = gpu_lane::scale(at(I), real_part(A.settled(I, I)));
      write(element);
#pragma unroll
      for (int k = 0; k < I; ++k)
        at(k) = gpu_lane::subtract<true, false>(at(k), k < kKept ? A.kept(I, k) : A.settled(I, k),
                                                element);
      backward_first<I - 1>(A, write);
    }
  }
};

}  // namespace chol::cuda
