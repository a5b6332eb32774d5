#include "interleaved/streamed.cuh"
#include "top_looking.hpp"

namespace chol::bench {
namespace {

using cuda::InterleavedCall;
using cuda::Lane;
using cuda::LaneMatrix;

constexpr int kTile = 8, kThreads = 32;

/// Tile row by tile row: the tiles left of the diagonal one, from the left, then that.
template <class T>
__global__ void __launch_bounds__(kThreads) top_looking_kernel(InterleavedCall<T> call) {
  using V = gpu_lane::RealLaneOf<Lane<T>>;
  const int64_t b = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (b >= call.batch) return;
  const LaneMatrix<Lane<T>> A = call.triangle(b);
  V info = V::zero();
#pragma unroll 1
  for (int i = 0; i < call.n; i += kTile) {
#pragma unroll 1
    for (int j = 0; j < i; j += kTile) {
      V reciprocal[kTile];
#pragma unroll
      for (int k = 0; k < kTile; ++k)
        reciprocal[k] = gpu_lane::invert(gpu_lane::real_part(A.at(j + k, j + k)));
      gpu_lane::factor_below<kTile, kTile>(A.from(i, 0), A.from(j, 0), call.n - i, j, reciprocal);
    }
    gpu_lane::with_count<kTile>(call.n - i, [&](auto rows) {
      constexpr int N = decltype(rows)::value;
      V reciprocal[N];
      cuda::factor_diagonal(A, i, info, reciprocal);
    });
  }
  call.info[b] = static_cast<int>(info.v);
}

template <class T>
struct OnDevice {
  using Type = T;
};
template <class R>
struct OnDevice<std::complex<R>> {
  using Type = cuda::Complex<R>;
};

}  // namespace

template <class T>
void run_top_looking(int64_t n, T* A, int64_t chunk, int* info, int64_t batch,
                     cudaStream_t stream) {
  InterleavedCall<typename OnDevice<T>::Type> call;
  call.A = reinterpret_cast<typename OnDevice<T>::Type*>(A);
  call.lda = n;
  call.chunk = chunk;
  call.batch = batch;
  call.n = int(n);
  call.info = info;
  const auto blocks = static_cast<unsigned>((batch + kThreads - 1) / kThreads);
  top_looking_kernel<<<blocks, kThreads, 0, stream>>>(call);
}

#define CHOL_INSTANTIATE(T) \
  template void run_top_looking<T>(int64_t, T*, int64_t, int*, int64_t, cudaStream_t);
CHOL_INSTANTIATE(float)
CHOL_INSTANTIATE(double)
CHOL_INSTANTIATE(std::complex<float>)
CHOL_INSTANTIATE(std::complex<double>)
#undef CHOL_INSTANTIATE

}  // namespace chol::bench
