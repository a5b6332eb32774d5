// Orders whose triangle is too large for the registers of one thread: the factorization is
// left-looking, one column at a time, each read when needed; a row is stored when its last column
// is finished. Of a triangle of n^2 / 2 elements at most n^2 / 4 and one column are then live at a
// time. If that exceeds the registers, the first columns stay in shared memory, with their updates
// in a loop; the others are unrolled. A right-hand side is one more row; for the backward
// substitution, finished rows are kept in shared memory. One instance an order.
#pragma once

#include "interleaved/thread/fused_rhs.cuh"

namespace chol::cuda {

template <InterleavedTask kTask, class T, int N>
inline constexpr int kKeptColumns = kept_columns(kPrecision<T>, N,
                                                 kTask == InterleavedTask::factor_and_solve);
template <InterleavedTask kTask, int N, int kKept>
inline constexpr int kSettledRows = kTask == InterleavedTask::factor_and_solve
                                        ? settled_rows(N, kKept)
                                        : 0;

/// Factors column by column from J on; visit(column, reciprocal) is called for each finished
/// column. Recursion instead of a loop, which the compiler would not unroll completely.
template <int J = 0, int N, int kKept, int kSettled, class E, class V, class Visit>
__device__ __forceinline__ void factor_columns(gpu_lane::Tile<E, N, N>& L,
                                               ColumnWalk<E, N, kKept, kSettled>& A, V& info,
                                               const Visit& visit) {
  A.template take<J>(L);
  A.template subtract_kept<J>(L);
#pragma unroll
  for (int k = kKept; k < J; ++k) {
    const E l = L.e[J][k];
#pragma unroll
    for (int i = J; i < N; ++i)
      L.e[i][J] = gpu_lane::subtract<false, true>(L.e[i][J], L.e[i][k], l);
  }
  V pivot = real_part(L.e[J][J]);
  const V reciprocal = gpu_lane::take_pivot(pivot, info, typename V::Real(J + 1));
  L.e[J][J] = gpu_lane::from_real<E>(pivot);
#pragma unroll
  for (int i = J + 1; i < N; ++i) L.e[i][J] = gpu_lane::scale(L.e[i][J], reciprocal);
  A.template store<J>(L);
  A.template keep<J>(L);
  A.template fetch<J + kColumnsAhead>();
  visit(gpu_lane::Count<J>{}, reciprocal);
  if constexpr (J + 1 < N) factor_columns<J + 1>(L, A, info, visit);
}

/// @tparam kKept leading columns that stay in shared memory.
template <class T, int N, InterleavedTask kTask, int kKept = kKeptColumns<kTask, T, N>>
__global__ void __launch_bounds__(kColumnThreads) columns_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  extern __shared__ __align__(16) char shared_bytes[];
  const int64_t b = int64_t(blockIdx.x) * kColumnThreads + threadIdx.x;
  if (b >= call.batch) return;
  constexpr int kSettled = kSettledRows<kTask, N, kKept>;
  ColumnWalk<E, N, kKept, kSettled> A(call.triangle(b),
                                      reinterpret_cast<E*>(shared_bytes) + threadIdx.x);
  A.template fetch<0>();
  A.template fetch<1>();
  A.template fetch<2>();
  static_assert(kColumnsAhead == 3);
  gpu_lane::Tile<E, N, N> L;
  V info = V::zero();
  if constexpr (kTask == InterleavedTask::factor) {
    factor_columns(L, A, info, [](auto, V) {});
    call.info[b] = static_cast<int>(info.v);
  } else {
    const LaneMatrix<E> B = call.right_hand_sides(b);
    ColumnSolve<E, N, kKept, kSettled> solve;
    const E* from = B.base;
#pragma unroll
    for (int i = 0; i < N; ++i, from = walked(from + B.rs))
      solve.x[i] = conj_if(call.swapped, read_in_order(from));
    factor_columns(L, A, info, [&](auto column, V reciprocal) {
      solve.template forward<decltype(column)::value>(L, A, reciprocal);
    });
    call.info[b] = static_cast<int>(info.v);
    if (!is_zero(info)) return;
    // Otherwise the compiler forwards values through registers instead of reading them from shared
    // memory.
    asm volatile("" ::: "memory");
    solve.backward(L, A, B, call.swapped);
  }
}

#ifndef __CUDACC_RTC__
template <InterleavedTask kTask, int N, class T>
Status launch_columns(const InterleavedCall<T>& call, unsigned blocks, cudaStream_t stream) {
  constexpr int kKept = kKeptColumns<kTask, T, N>;
  constexpr auto kBytes =
      int(column_block_bytes(sizeof(T), N, kKept, kSettledRows<kTask, N, kKept>));
  return launch("interleaved, columns", columns_kernel<T, N, kTask>, blocks, kColumnThreads, kBytes,
                stream, call);
}

template <InterleavedTask kTask, int kPart, class T>
Status run_columns(const InterleavedCall<T>& call, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((call.batch + kColumnThreads - 1) / kColumnThreads);
  constexpr int kFirst = kFirstColumnOrder<T>;
  Status status;
  const auto launch = [&]<int N>(gpu_lane::Count<N>) {
    if constexpr (part_of_order<kTask, T>(N) == kPart)
      if (call.n == N) status = launch_columns<kTask, N>(call, blocks, stream);
  };
  [&]<int... N>(std::integer_sequence<int, N...>) { (launch(gpu_lane::Count<kFirst + N>{}), ...); }
  (std::make_integer_sequence<int, kColumnOrder<kTask, T> - kFirst + 1>{});
  return status;
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_COLUMNS(task, part, T)                                  \
  template chol::Status chol::cuda::run_columns<chol::cuda::InterleavedTask::task, part, T>( \
      const InterleavedCall<T>&, cudaStream_t);
