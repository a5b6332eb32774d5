// Copies of triangles between a matrix and a square buffer.
#pragma once

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda::multi {

inline constexpr int kTriangleThreads = 256;

template <class T>
__global__ void identity_kernel(T* A, int64_t n) {
  const int64_t k = int64_t(blockIdx.x) * kTriangleThreads + threadIdx.x;
  if (k < n * n) A[k] = from_real<T>(k / n == k % n ? 1 : 0);
}

template <class T>
__global__ void triangle_kernel(bool upper, const T* from, int64_t ldf, T* to, int64_t ldt,
                                int64_t n, bool zeros_beside) {
  const int64_t k = int64_t(blockIdx.x) * kTriangleThreads + threadIdx.x;
  if (k >= n * n) return;
  const int64_t i = k % n, j = k / n;
  if (upper ? i <= j : i >= j)
    to[j * ldt + i] = from[j * ldf + i];
  else if (zeros_beside)
    to[j * ldt + i] = from_real<T>(0);
}

inline unsigned triangle_blocks(int64_t n) {
  return static_cast<unsigned>((n * n + kTriangleThreads - 1) / kTriangleThreads);
}

template <class T>
Status write_identity(T* A, int64_t n, cudaStream_t stream) {
  if (n == 0) return Status::success();
  identity_kernel<<<triangle_blocks(n), kTriangleThreads, 0, stream>>>(A, n);
  return launched("identity");
}

/// @param zeros_beside whether the rest of `to` is set to zero; otherwise it is not changed.
template <class T>
Status copy_triangle(bool upper, const T* from, int64_t ldf, T* to, int64_t ldt, int64_t n,
                     bool zeros_beside, cudaStream_t stream) {
  if (n == 0) return Status::success();
  triangle_kernel<<<triangle_blocks(n), kTriangleThreads, 0, stream>>>(upper, from, ldf, to, ldt, n,
                                                                       zeros_beside);
  return launched("triangle");
}

}  // namespace chol::cuda::multi
