// Any order, one thread a matrix in device memory: the tiles of src/lane as they are. What the
// faster kernels leave over: large orders, inverses, logarithms of determinants.
#pragma once

#include "interleaved/kernels.hpp"

namespace chol::cuda {

inline constexpr int kStreamedThreads = 64;
inline constexpr int kStreamedTile = 4;

/// The tile at (j, j), less the product of what lies left of it with itself.
template <int N, class E, class V>
__device__ __forceinline__ void factor_diagonal(LaneMatrix<E> A, int64_t j, V& info,
                                                V (&reciprocal)[N]) {
  auto t = gpu_lane::load_lower<N>(A.from(j, j));
  gpu_lane::subtract_product<false, true, true>(t, A.from(j, 0), A.from(j, 0).transposed(), j);
  gpu_lane::factor_tile(t, reciprocal, info, j);
  gpu_lane::store_lower(t, A.from(j, j));
}

/// Left-looking over block columns, as lane/cholesky.hpp has it, but without an array of
/// reciprocals.
template <class E, class V>
__device__ __forceinline__ void factor_streamed(LaneMatrix<E> A, int64_t n, V& info) {
  constexpr int kNB = kStreamedTile;
#pragma unroll 1
  for (int64_t j = 0; j < n; j += kNB)
    gpu_lane::with_count<kNB>(n - j, [&](auto columns) {
      constexpr int N = decltype(columns)::value;
      V reciprocal[N];
      factor_diagonal(A, j, info, reciprocal);
#pragma unroll 1
      for (int64_t i = j + N; i < n; i += kNB)
        gpu_lane::factor_below<kNB, N>(A.from(i, 0), A.from(j, 0), n - i, j, reciprocal);
    });
}

/// Forward and backward substitution of one right-hand side, in place.
template <class E>
__device__ __forceinline__ void solve_streamed(LaneMatrix<E> L, LaneMatrix<E> x, int64_t n,
                                               bool conjugated) {
  for (int64_t i = 0; i < n; ++i) {
    E sum = conj_if(conjugated, x.at(i, 0));
    for (int64_t k = 0; k < i; ++k)
      sum = gpu_lane::subtract<false, false>(sum, L.at(i, k), x.at(k, 0));
    x.at(i, 0) = gpu_lane::scale(sum, invert(real_part(L.at(i, i))));
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    E sum = x.at(i, 0);
    for (int64_t k = i + 1; k < n; ++k)
      sum = gpu_lane::subtract<true, false>(sum, L.at(k, i), x.at(k, 0));
    x.at(i, 0) = gpu_lane::scale(sum, invert(real_part(L.at(i, i))));
  }
  if (conjugated)
    for (int64_t i = 0; i < n; ++i) x.at(i, 0) = conj_if(true, x.at(i, 0));
}

template <class T, InterleavedTask kTask>
__global__ void __launch_bounds__(kStreamedThreads) streamed_kernel(InterleavedCall<T> call) {
  using V = gpu_lane::RealLaneOf<Lane<T>>;
  const int64_t b = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (b >= call.batch) return;
  const auto A = call.triangle(b);
  if constexpr (kTask != InterleavedTask::solve) {
    V info = V::zero();
    factor_streamed(A, call.n, info);
    call.info[b] = static_cast<int>(info.v);
  }
  if constexpr (kTask != InterleavedTask::factor) {
    if (call.failed(b)) return;
    const auto B = call.right_hand_sides(b);
    for (int64_t c = 0; c < call.nrhs; ++c) solve_streamed(A, B.from(0, c), call.n, call.swapped);
  }
}

/// What gpu_lane::invert_factor reads as an array of reciprocals.
template <class E>
struct DiagonalReciprocals {
  LaneMatrix<E> L;
  __device__ __forceinline__ gpu_lane::RealLaneOf<E> operator[](int64_t j) const {
    return invert(real_part(L.at(j, j)));
  }
};

/// A zero on the diagonal of the factor is info, and leaves the matrix as it was.
template <class T>
__global__ void __launch_bounds__(kStreamedThreads) inverse_kernel(InterleavedCall<T> call) {
  const int64_t b = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (b >= call.batch) return;
  const auto L = call.triangle(b);
  int info = 0;
  for (int j = call.n - 1; j >= 0; --j)
    if (is_zero(real_part(L.at(j, j)))) info = j + 1;
  call.info[b] = info;
  if (info != 0) return;
  gpu_lane::invert_factor(L, call.n, DiagonalReciprocals<Lane<T>>{L});
  gpu_lane::square_factor(L, call.n);
}

template <class T>
__global__ void log_determinant_kernel(InterleavedCall<T> call, Real<T>* result) {
  const int64_t b = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (b >= call.batch) return;
  const auto L = call.triangle(b);
  Real<T> sum = 0;
  for (int j = 0; j < call.n; ++j) sum += log(real_part(L.at(j, j)).v);
  result[b] = 2 * sum;
}

template <class T>
unsigned streamed_blocks(const InterleavedCall<T>& call) {
  return static_cast<unsigned>((call.batch + kStreamedThreads - 1) / kStreamedThreads);
}

template <InterleavedTask kTask, class T>
Status run_streamed(const InterleavedCall<T>& call, cudaStream_t stream) {
  streamed_kernel<T, kTask><<<streamed_blocks(call), kStreamedThreads, 0, stream>>>(call);
  return launched("interleaved, streamed");
}
template <class T>
Status run_inverse(const InterleavedCall<T>& call, cudaStream_t stream) {
  inverse_kernel<<<streamed_blocks(call), kStreamedThreads, 0, stream>>>(call);
  return launched("interleaved inverse");
}
template <class T>
Status run_log_determinant(const InterleavedCall<T>& call, Real<T>* result, cudaStream_t stream) {
  log_determinant_kernel<<<streamed_blocks(call), kStreamedThreads, 0, stream>>>(call, result);
  return launched("interleaved logdet");
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_STREAMED_TASK(task, T)                             \
  template chol::Status chol::cuda::run_streamed<chol::cuda::InterleavedTask::task, T>( \
      const InterleavedCall<T>&, cudaStream_t);
#define CHOL_INSTANTIATE_INTERLEAVED_STREAMED(T)                                             \
  CHOL_INSTANTIATE_INTERLEAVED_STREAMED_TASK(factor, T)                                      \
  CHOL_INSTANTIATE_INTERLEAVED_STREAMED_TASK(solve, T)                                       \
  CHOL_INSTANTIATE_INTERLEAVED_STREAMED_TASK(factor_and_solve, T)                            \
  template chol::Status chol::cuda::run_inverse<T>(const InterleavedCall<T>&, cudaStream_t); \
  template chol::Status chol::cuda::run_log_determinant<T>(const InterleavedCall<T>&,        \
                                                           chol::cuda::Real<T>*, cudaStream_t);
