// Orders whose triangle fits the registers of one thread: read once, factored by unrolled code,
// written once. One instance an order.
#pragma once

#include "interleaved/element_access.cuh"
#include "interleaved/kernels.hpp"

namespace chol::cuda {

/// Reads the triangle by columns and writes it by rows: each address is computed from the previous
/// one, so that the compiler, which cannot see that loads and stores use the same addresses, does
/// not keep addresses in between, at two registers an element.
template <int N, class E>
__device__ __forceinline__ gpu_lane::Tile<E, N, N> load_triangle(LaneMatrix<E> A) {
  gpu_lane::Tile<E, N, N> t;
  const E* column = A.base;
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const E* p = column;
#pragma unroll
    for (int i = j; i < N; ++i) {
      t.e[i][j] = read_in_order(p);
      p = walked(p + A.rs);
    }
    column = walked(column + A.rs + A.cs);
  }
  return t;
}
template <int N, class E>
__device__ __forceinline__ void store_triangle(const gpu_lane::Tile<E, N, N>& t, LaneMatrix<E> A) {
  E* row = A.base;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    E* p = row;
#pragma unroll
    for (int j = 0; j <= i; ++j) {
      write_in_order(p, t.e[i][j]);
      p = walked(p + A.cs);
    }
    row = walked(row + A.rs);
  }
}

/// Right-hand side c of one matrix whose factor is in registers.
template <int N, class E, class V>
__device__ __forceinline__ void solve_one(const gpu_lane::Tile<E, N, N>& L, const V* reciprocal,
                                          LaneMatrix<E> B, int64_t c, bool conjugated, bool kept) {
  gpu_lane::Tile<E, N, 1> x;
  const E* from = &B.at(0, c);
#pragma unroll
  for (int i = 0; i < N; ++i, from = walked(from + B.rs))
    x.e[i][0] = conj_if(conjugated, read_in_order(from));
  const LaneMatrix<E> factor{const_cast<E*>(&L.e[0][0]), N, 1};
  gpu_lane::solve_forward<false>(x, factor, reciprocal);
  gpu_lane::solve_backward<true>(x, factor, reciprocal);
  if (kept) return;
  E* to = &B.at(N - 1, c);
#pragma unroll
  for (int i = N - 1; i >= 0; --i, to = walked(to - B.rs))
    write_in_order(to, conj_if(conjugated, x.e[i][0]));
}

/// The task for matrix b, whose triangle has been read.
template <InterleavedTask kTask, int N, class T>
__device__ __forceinline__ void run_in_registers(const InterleavedCall<T>& call, int64_t b,
                                                 gpu_lane::Tile<Lane<T>, N, N>& L) {
  using V = gpu_lane::RealLaneOf<Lane<T>>;
  V reciprocal[N];
  bool failed = false;
  if constexpr (kTask == InterleavedTask::solve) {
    failed = call.failed(b);
#pragma unroll
    for (int j = 0; j < N; ++j) reciprocal[j] = invert(real_part(L.e[j][j]));
  } else {
    V info = V::zero();
    gpu_lane::factor_tile(L, reciprocal, info, 0);
    failed = !is_zero(info);
    call.info[b] = static_cast<int>(info.v);
    store_triangle(L, call.triangle(b));
  }
  if constexpr (kTask != InterleavedTask::factor) {
    const auto B = call.right_hand_sides(b);
    for (int64_t c = 0; c < call.nrhs; ++c) solve_one(L, reciprocal, B, c, call.swapped, failed);
  }
}

/// Matrices of a thread: with fewer bytes a thread, the threads of a multiprocessor have too few
/// bytes in flight to saturate memory. Factorizations are slower with several.
template <InterleavedTask kTask, class T, int N>
inline constexpr int kRegisterMatrices = kTask != InterleavedTask::solve ||
                                                 leading_elements(N, 0) * int(sizeof(T)) > 12
                                             ? 1
                                             : 4;

template <class T, int N, InterleavedTask kTask>
__global__ void __launch_bounds__(kRegisterThreads) registers_kernel(InterleavedCall<T> call) {
  constexpr int kMatrices = kRegisterMatrices<kTask, T, N>;
  const int64_t first = int64_t(blockIdx.x) * kMatrices * blockDim.x + threadIdx.x;
  gpu_lane::Tile<Lane<T>, N, N> L[kMatrices];
#pragma unroll
  for (int m = 0; m < kMatrices; ++m) {
    const int64_t b = first + m * blockDim.x;
    if (b < call.batch) L[m] = load_triangle<N>(call.triangle(b));
  }
#pragma unroll
  for (int m = 0; m < kMatrices; ++m) {
    const int64_t b = first + m * blockDim.x;
    if (b < call.batch) run_in_registers<kTask>(call, b, L[m]);
  }
}

#ifndef __CUDACC_RTC__
template <InterleavedTask kTask, class T>
Status run_registers(const InterleavedCall<T>& call, int threads, cudaStream_t stream) {
  if (threads <= 0 || threads > kRegisterThreads) threads = kRegisterThreads;
  const auto launch = [&]<int N>(gpu_lane::Count<N>) {
    if (call.n != N) return;
    const int64_t matrices = int64_t(kRegisterMatrices<kTask, T, N>) * threads;
    const auto blocks = static_cast<unsigned>((call.batch + matrices - 1) / matrices);
    registers_kernel<T, N, kTask><<<blocks, threads, 0, stream>>>(call);
  };
  [&]<int... N>(std::integer_sequence<int, N...>) { (launch(gpu_lane::Count<N + 1>{}), ...); }
  (std::make_integer_sequence<int, kRegisterOrder<T>>{});
  return launched("interleaved, registers");
}
#endif

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_REGISTERS(task, T)                                  \
  template chol::Status chol::cuda::run_registers<chol::cuda::InterleavedTask::task, T>( \
      const InterleavedCall<T>&, int, cudaStream_t);
