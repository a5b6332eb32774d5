#include "interleaved/thread/tiled.cuh"
#include "top_looking.hpp"

namespace chol::bench {
namespace {

constexpr int kTile = 8, kThreads = 32;

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
  using D = typename OnDevice<T>::Type;
  cuda::InterleavedCall<D> call;
  call.A = reinterpret_cast<D*>(A);
  call.lda = n;
  call.chunk = chunk;
  call.batch = batch;
  call.n = int(n);
  call.info = info;
  const auto blocks = static_cast<unsigned>((batch + kThreads - 1) / kThreads);
  cuda::tiled_kernel<D, cuda::InterleavedTask::factor, kTile, cuda::Looking::top, 0, kThreads>
      <<<blocks, kThreads, 0, stream>>>(call);
}

#define CHOL_INSTANTIATE(T) \
  template void run_top_looking<T>(int64_t, T*, int64_t, int*, int64_t, cudaStream_t);
CHOL_INSTANTIATE(float)
CHOL_INSTANTIATE(double)
CHOL_INSTANTIATE(std::complex<float>)
CHOL_INSTANTIATE(std::complex<double>)
#undef CHOL_INSTANTIATE

}  // namespace chol::bench
