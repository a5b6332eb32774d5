#pragma once

#include "tlr/pool.hpp"
#include "tlr/thin_launch.hpp"
#include "tlr/thin_products.cuh"

namespace chol::cuda::tlr {

/// Shared memory requested by kernels that run concurrently with a stage. It limits them to three
/// blocks per multiprocessor, so that one block of the next stage also fits.
inline constexpr int kBesideBytes = 66 * 1024;
inline constexpr int kThinThreads = 256, kPartRows = 128, kNearRows = 8;

template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads, 4)
    thin_right_kernel(const __grid_constant__ WideCall call, const RightTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  ThinProducts<T, kColumns>(call, memory).multiply_right(tasks[blockIdx.x]);
}
template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads, 4)
    thin_part_kernel(const __grid_constant__ WideCall call, const PartTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  ThinProducts<T, kColumns>(call, memory).template set_part<kPartRows>(tasks[blockIdx.x]);
}
template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads, 4)
    thin_subtract_kernel(const __grid_constant__ WideCall call, const PartTask* tasks) {
  extern __shared__ __align__(16) char memory[];
  ThinProducts<T, kColumns>(call, memory).template subtract_all<kNearRows>(tasks[blockIdx.x]);
}
/// Blocks with the longest sums start first.
template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads, 4)
    thin_solve_kernel(const __grid_constant__ WideCall call, const T* inverse, int start,
                      int order) {
  extern __shared__ __align__(16) char memory[];
  using Products = ThinProducts<T, kColumns>;
  const unsigned block = call.adjoint ? blockIdx.x : gridDim.x - 1 - blockIdx.x;
  Products(call, memory)
      .solve(inverse, start, order, static_cast<int>(block) * Products::kSolveRows);
}
/// Copies X to row-major order with kColumns elements per row, padded by zeros.
template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads)
    thin_gather_kernel(const T* X, int64_t ldx, int64_t n, int columns, T* to) {
  const int64_t i = int64_t{blockIdx.x} * kThinThreads + threadIdx.x;
  if (i >= n) return;
#pragma unroll
  for (int r = 0; r < kColumns; ++r)
    to[i * kColumns + r] = r < columns ? X[i + r * ldx] : from_real<T>(0);
}
template <class T, int kColumns>
__global__ void __launch_bounds__(kThinThreads)
    thin_scatter_kernel(const T* from, int64_t n, int columns, T* X, int64_t ldx) {
  const int64_t i = int64_t{blockIdx.x} * kThinThreads + threadIdx.x;
  if (i >= n) return;
  for (int r = 0; r < columns; ++r) X[i + r * ldx] = from[i * kColumns + r];
}

/// Launches the kernel, unless the number of blocks is zero.
template <class Kernel, class... Arguments>
void launch_thin(Kernel kernel, int64_t blocks, int bytes, cudaStream_t stream,
                 Arguments... arguments) {
  if (blocks == 0) return;
  kernel<<<static_cast<unsigned>(blocks), kThinThreads, bytes, stream>>>(arguments...);
  check(cudaGetLastError(), "thin products");
}

template <class T, int kColumns>
void ThinLaunch<T, kColumns>::allow_shared_memory(const WideCall& call, int) {
  using Products = ThinProducts<T, kColumns>;
  allow_shared(thin_right_kernel<T, kColumns>,
               larger(kBesideBytes, Products::right_bytes(call.tile)));
  allow_shared(thin_part_kernel<T, kColumns>, larger(kBesideBytes, Products::kLeftBytes));
  allow_shared(thin_subtract_kernel<T, kColumns>, Products::kLeftBytes);
  allow_shared(thin_solve_kernel<T, kColumns>, Products::kPartialBytes);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::multiply_right(const WideCall& call, const RightTask* tasks,
                                             int64_t count, int, Tasks size, cudaStream_t stream) {
  const int bytes = ThinProducts<T, kColumns>::right_bytes(call.tile);
  launch_thin(thin_right_kernel<T, kColumns>, count,
              size == Tasks::small ? bytes : larger(kBesideBytes, bytes), stream, call, tasks);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::solve(const WideCall& call, const T* inverse, int start, int order,
                                    int, cudaStream_t stream) {
  using Products = ThinProducts<T, kColumns>;
  launch_thin(thin_solve_kernel<T, kColumns>,
              (order + Products::kSolveRows - 1) / Products::kSolveRows, Products::kPartialBytes,
              stream, call, inverse, start, order);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::set_parts(const WideCall& call, const PartTask* tasks, int64_t count,
                                        int, cudaStream_t stream) {
  launch_thin(thin_part_kernel<T, kColumns>, count,
              larger(kBesideBytes, ThinProducts<T, kColumns>::kLeftBytes), stream, call, tasks);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::subtract_all(const WideCall& call, const PartTask* tasks,
                                           int64_t count, int, cudaStream_t stream) {
  launch_thin(thin_subtract_kernel<T, kColumns>, count, ThinProducts<T, kColumns>::kLeftBytes,
              stream, call, tasks);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::gather(const T* X, int64_t ldx, int64_t n, int columns, T* to, int,
                                     cudaStream_t stream) {
  launch_thin(thin_gather_kernel<T, kColumns>, (n + kThinThreads - 1) / kThinThreads, 0, stream, X,
              ldx, n, columns, to);
}
template <class T, int kColumns>
void ThinLaunch<T, kColumns>::scatter(const T* from, int, int64_t n, int columns, T* X, int64_t ldx,
                                      cudaStream_t stream) {
  launch_thin(thin_scatter_kernel<T, kColumns>, (n + kThinThreads - 1) / kThinThreads, 0, stream,
              from, n, columns, X, ldx);
}

}  // namespace chol::cuda::tlr

#define CHOL_INSTANTIATE_TLR_THIN(T)                 \
  template struct chol::cuda::tlr::ThinLaunch<T, 1>; \
  template struct chol::cuda::tlr::ThinLaunch<T, 4>;
