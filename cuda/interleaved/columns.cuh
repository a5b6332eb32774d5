// Orders whose triangle is too large for the registers of one thread: the factorization goes
// left-looking, one column at a time, each read when it is due; a row leaves for good once the
// columns have passed it. Of a triangle of n^2 / 2 elements at most n^2 / 4 and a column are then
// alive at a time. Where that is too much for the registers, the first columns stay in shared
// memory, and their updates are a loop; the others are unrolled. One instance an order.
#pragma once

#include "interleaved/kernels.hpp"
#include "interleaved/trapezoid.cuh"
#include "interleaved/walk.cuh"

namespace chol::cuda {

inline constexpr int kColumnThreads = kWarpThreads;
template <class T, int N>
inline constexpr int kKeptColumns = kept_columns(sizeof(T), N);

/// Walks along the columns of a matrix in memory; see load_triangle for why it writes upwards what
/// it read downwards, and comes from the column before instead of the first.
/// @tparam kKept leading columns that stay in shared memory.
template <class E, int N, int kKept>
struct ColumnWalk {
  E *top, *bottom;  ///< of the columns to fetch or read next and to write next
  int64_t rs, cs;
  E* ring;  ///< the thread's words of kColumnsAhead columns in shared memory; kept columns follow

  static constexpr int kRingElements = kColumnsAhead * N;

  __device__ __forceinline__ ColumnWalk(LaneMatrix<E> A, E* ring_)
      : top(A.base), bottom(&A.at(N - 1, 0)), rs(A.rs), cs(A.cs), ring(ring_) {}

  __device__ __forceinline__ E& in_ring(int i, int j) const {
    return ring[(j % kColumnsAhead * N + i - j) * kColumnThreads];
  }
  __device__ __forceinline__ E* kept_column(int k) const {
    return ring + (kRingElements + k * N) * kColumnThreads;
  }
  /// Column J less the kept ones before it.
  template <int J>
  __device__ __forceinline__ void subtract_kept(gpu_lane::Tile<E, N, N>& t) const {
    constexpr int kBefore = J < kKept ? J : kKept;
#pragma unroll 1
    for (int k = 0; k < kBefore; ++k) {
      const E* column = kept_column(k);
      const E l = column[J * kColumnThreads];
#pragma unroll
      for (int i = J; i < N; ++i)
        t.e[i][J] = gpu_lane::subtract<false, true>(t.e[i][J], column[i * kColumnThreads], l);
    }
  }
  template <int J>
  __device__ __forceinline__ void keep(const gpu_lane::Tile<E, N, N>& t) const {
    if constexpr (J < kKept) {
      E* const column = kept_column(J);
#pragma unroll
      for (int i = J + 1; i < N; ++i) column[i * kColumnThreads] = t.e[i][J];
    }
  }
  /// Starts the copy of column J, if there is one, as one commit group.
  template <int J>
  __device__ __forceinline__ void fetch() {
    if constexpr (J < N) {
      E* p = top;
#pragma unroll
      for (int i = J; i < N; ++i) {
        copy_async(&in_ring(i, J), p);
        p = walked(p + rs);
      }
      top = walked(top + rs + cs);
    }
    commit_copies();
  }
  template <int J>
  __device__ __forceinline__ void take(gpu_lane::Tile<E, N, N>& t) const {
    asm volatile("cp.async.wait_group %0;" ::"n"(kColumnsAhead - 1) : "memory");
#pragma unroll
    for (int i = J; i < N; ++i) t.e[i][J] = in_ring(i, J);
  }
  /// @tparam kAgain whether the column is read again soon.
  template <int J, bool kAgain>
  __device__ __forceinline__ void store(const gpu_lane::Tile<E, N, N>& t) {
    E* p = bottom;
#pragma unroll
    for (int i = N - 1; i >= J; --i) {
      if constexpr (kAgain)
        *p = t.e[i][J];
      else
        write_once(p, t.e[i][J]);
      p = walked(p - rs);
    }
    bottom = walked(bottom + cs);
  }
  /// The way back: starts the copy of column J, the one before the last that was fetched.
  template <int J>
  __device__ __forceinline__ void fetch_back() {
    if constexpr (J >= 0) {
      top = walked(top - rs - cs);
      E* p = top;
#pragma unroll
      for (int i = J; i < N; ++i) {
        copy_async(&in_ring(i, J), p);
        p = walked(p + rs);
      }
    }
    commit_copies();
  }
};

/// Factors column by column from J on; visit(column, reciprocal) sees each once it is done. The
/// recursion unrolls what is too much for the compiler's patience as a loop.
template <bool kAgain, int J = 0, int N, int kKept, class E, class V, class Visit>
__device__ __forceinline__ void factor_columns(gpu_lane::Tile<E, N, N>& L,
                                               ColumnWalk<E, N, kKept>& A, V& info,
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
  A.template store<J, kAgain>(L);
  A.template keep<J>(L);
  A.template fetch<J + kColumnsAhead>();
  visit(gpu_lane::Count<J>{}, reciprocal);
  if constexpr (J + 1 < N) factor_columns<kAgain, J + 1>(L, A, info, visit);
}

/// x := inverse(L^H) x, from column J down, the columns read again.
template <int J, int N, int kKept, class E, class V>
__device__ __forceinline__ void solve_columns_backward(gpu_lane::Tile<E, N, N>& L,
                                                       ColumnWalk<E, N, kKept>& A, E (&x)[N],
                                                       const V (&inverse)[N]) {
  A.template take<J>(L);
#pragma unroll
  for (int i = J + 1; i < N; ++i) x[J] = gpu_lane::subtract<true, false>(x[J], L.e[i][J], x[i]);
  x[J] = gpu_lane::scale(x[J], inverse[J]);
  A.template fetch_back<J - kColumnsAhead>();
  if constexpr (J > 0) solve_columns_backward<J - 1>(L, A, x, inverse);
}

/// @tparam kKept leading columns that stay in shared memory.
template <class T, int N, InterleavedTask kTask, int kKept = kKeptColumns<T, N>>
__global__ void __launch_bounds__(kColumnThreads) columns_kernel(InterleavedCall<T> call) {
  using E = Lane<T>;
  using V = gpu_lane::RealLaneOf<E>;
  extern __shared__ __align__(16) char shared_bytes[];
  const int64_t b = int64_t(blockIdx.x) * kColumnThreads + threadIdx.x;
  if (b >= call.batch) return;
  ColumnWalk<E, N, kKept> A(call.triangle(b), reinterpret_cast<E*>(shared_bytes) + threadIdx.x);
  A.template fetch<0>();
  A.template fetch<1>();
  A.template fetch<2>();
  static_assert(kColumnsAhead == 3);
  gpu_lane::Tile<E, N, N> L;
  V info = V::zero();
  if constexpr (kTask == InterleavedTask::factor) {
    factor_columns<false>(L, A, info, [](auto, V) {});
    call.info[b] = static_cast<int>(info.v);
  } else {
    // One right-hand side: forwards with the columns as they come, backwards with the columns out
    // of the second-level cache, the last one first.
    const LaneMatrix<E> B = call.right_hand_sides(b);
    E x[N];
    V inverse[N];
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = conj_if(call.swapped, B.at(i, 0));
    factor_columns<true>(L, A, info, [&](auto column, V reciprocal) {
      constexpr int j = decltype(column)::value;
      inverse[j] = reciprocal;
      x[j] = gpu_lane::scale(x[j], reciprocal);
#pragma unroll
      for (int i = j + 1; i < N; ++i)
        x[i] = gpu_lane::subtract<false, false>(x[i], L.e[i][j], x[j]);
    });
    call.info[b] = static_cast<int>(info.v);
    if (!is_zero(info)) return;
    __threadfence();  // the copies below read what the stores above wrote
    A.template fetch_back<N - 1>();
    A.template fetch_back<N - 2>();
    A.template fetch_back<N - 3>();
    solve_columns_backward<N - 1>(L, A, x, inverse);
#pragma unroll
    for (int i = 0; i < N; ++i) B.at(i, 0) = conj_if(call.swapped, x[i]);
  }
}

#ifndef __CUDACC_RTC__
template <InterleavedTask kTask, int N, class T>
Status launch_columns(const InterleavedCall<T>& call, unsigned blocks, cudaStream_t stream) {
  constexpr auto kBytes = int(column_block_bytes(sizeof(T), N, kKeptColumns<T, N>));
  auto* kernel = columns_kernel<T, N, kTask>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return status_of(error, "interleaved: shared memory");
  kernel<<<blocks, kColumnThreads, kBytes, stream>>>(call);
  return launched("interleaved, columns");
}

template <InterleavedTask kTask, int kPart, class T>
Status run_columns(const InterleavedCall<T>& call, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((call.batch + kColumnThreads - 1) / kColumnThreads);
  constexpr int kFirst = kFirstColumnOrder<kTask, T> + kPart;
  Status status;
  const auto launch = [&]<int N>(gpu_lane::Count<N>) {
    if (call.n == N) status = launch_columns<kTask, N>(call, blocks, stream);
  };
  [&]<int... N>(std::integer_sequence<int, N...>) {
    (launch(gpu_lane::Count<kFirst + kOrderParts * N>{}), ...);
  }
  (std::make_integer_sequence<int, (kColumnOrder<kTask, T> - kFirst) / kOrderParts + 1>{});
  return status;
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_COLUMNS(task, part, T)                                  \
  template chol::Status chol::cuda::run_columns<chol::cuda::InterleavedTask::task, part, T>( \
      const InterleavedCall<T>&, cudaStream_t);
