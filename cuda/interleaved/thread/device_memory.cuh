// Any order, one thread a matrix in device memory: the tiles of src/lane without changes. For cases
// without faster kernels: large orders, inverses, log-determinants.
#pragma once

#include "common/log_of_positive.cuh"
#include "interleaved/thread/tiled.cuh"

namespace chol::cuda {

/// The reciprocals as an array interface for gpu_lane::invert_factor.
template <class E>
struct DiagonalReciprocals {
  LaneMatrix<E> L;
  __device__ __forceinline__ gpu_lane::RealLaneOf<E> operator[](int64_t j) const {
    return invert(real_part(L.at(j, j)));
  }
};

/// A zero on the diagonal of the factor sets info and leaves the matrix unchanged.
template <class T>
__global__ void __launch_bounds__(kStreamed.threads) inverse_kernel(InterleavedCall<T> call) {
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
  for (int j = 0; j < call.n; ++j) sum += log_of_positive(real_part(L.at(j, j)).v);
  result[b] = 2 * sum;
}

template <class T>
unsigned streamed_blocks(const InterleavedCall<T>& call) {
  return static_cast<unsigned>((call.batch + kStreamed.threads - 1) / kStreamed.threads);
}

template <InterleavedTask kTask, class T>
Status run_streamed(const InterleavedCall<T>& call, cudaStream_t stream) {
  tiled_kernel<T, kTask, kStreamed.tile, kStreamed.looking, 0, kStreamed.threads>
      <<<streamed_blocks(call), kStreamed.threads, 0, stream>>>(call);
  return launched("interleaved, streamed");
}
template <class T>
Status run_inverse(const InterleavedCall<T>& call, cudaStream_t stream) {
  inverse_kernel<<<streamed_blocks(call), kStreamed.threads, 0, stream>>>(call);
  return launched("interleaved inverse");
}
template <class T>
Status run_log_determinant(const InterleavedCall<T>& call, Real<T>* result, cudaStream_t stream) {
  log_determinant_kernel<<<streamed_blocks(call), kStreamed.threads, 0, stream>>>(call, result);
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
