// Solves of orders beyond a thread's registers by a warp a matrix. A block takes as many matrices
// as share a sector of memory and moves their triangles to shared memory, each by columns of its
// own, where the solves of column-major batches find them as they know them.
#pragma once

#include "batched/warp_solve.cuh"
#include "interleaved/kernels.hpp"

namespace chol::cuda {

template <class T>
struct WarpTriangles {
  static constexpr int kMatrices = 32 / int(sizeof(T));
  static constexpr int kRowsAtOnce = 32 / kMatrices;  ///< that a warp moves of a column
  /// Spreads the matrices over the banks.
  static constexpr int kBetween = 4, kSlack = 128;

  __host__ __device__ static int distance(int n) {
    return (PackedTriangle<T>::elements(n) + 31) / 32 * 32 + kBetween;
  }
  static size_t bytes(int n) { return sizeof(T) * (size_t(kMatrices) * distance(n) + kSlack); }

  /// Starts the copies of the triangles of this block. Lanes go over the matrices first, then over
  /// rows; warps over columns.
  __device__ __forceinline__ static void start_copies(const InterleavedCall<T>& call, T* shared,
                                                      int warp, int lane) {
    const int n = call.n, matrix = lane % kMatrices, row = lane / kMatrices;
    const int64_t b = int64_t(blockIdx.x) * kMatrices + matrix;
    if (b >= call.batch) return;
    const auto A = call.triangle(b);
    const PackedTriangle<T> held{shared + matrix * distance(n), n | 1};
    for (int j = warp; j < n; j += kMatrices) {
      const T* p = reinterpret_cast<const T*>(&A.at(j + row, j));
      T* to = held.at(j + row, j);
#pragma unroll 4
      for (int i = j + row; i < n; i += kRowsAtOnce, p += kRowsAtOnce * A.rs, to += kRowsAtOnce)
        copy_async<sizeof(T)>(to, p);
    }
  }
};

template <class T, int kParts, int kColumns>
__global__ void __launch_bounds__(1024 / sizeof(T), sizeof(T))
    warps_kernel(InterleavedCall<T> call) {
  using Triangles = WarpTriangles<T>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const shared = reinterpret_cast<T*>(shared_bytes);
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0), lane = threadIdx.x % 32;
  Triangles::start_copies(call, shared, warp, lane);
  close_copy_group();
  wait_for_copy_groups<0>();
  __syncthreads();
  const int64_t b = int64_t(blockIdx.x) * Triangles::kMatrices + warp;
  if (b >= call.batch || call.failed(b)) return;
  WarpSolve<T, kParts, kColumns> solve{
      {shared + warp * Triangles::distance(call.n), call.n | 1}, call.n, lane, {}};
  static_assert(solve.kSlack <= Triangles::kSlack);
  solve.invert_diagonal();
  const auto B = call.right_hand_sides(b);
  solve.solve_all(reinterpret_cast<T*>(B.base), B.rs, B.cs, call.nrhs, call.swapped);
}

template <class T, int kParts, int kColumns>
Status launch_warps(const InterleavedCall<T>& call, cudaStream_t stream) {
  using Triangles = WarpTriangles<T>;
  const size_t bytes = Triangles::bytes(call.n);
  auto* kernel = warps_kernel<T, kParts, kColumns>;
  if (bytes > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return status_of(error, "interleaved, warps: shared memory");
  }
  const int64_t blocks = (call.batch + Triangles::kMatrices - 1) / Triangles::kMatrices;
  kernel<<<static_cast<unsigned>(blocks), 32 * Triangles::kMatrices, bytes, stream>>>(call);
  return launched("interleaved, warps");
}

template <class T>
int64_t warps_need(int64_t n) {
  return n < 1 || n > kWarpsOrder ? INT64_MAX : int64_t(WarpTriangles<T>::bytes(int(n)));
}

template <class T>
Status run_warps(const InterleavedCall<T>& call, cudaStream_t stream) {
  return for_parts(call.n, [&]<int kParts>(std::integral_constant<int, kParts>) {
    return call.nrhs == 1 ? launch_warps<T, kParts, 1>(call, stream)
                          : launch_warps<T, kParts, kWarpSolveColumns>(call, stream);
  });
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_WARPS(T)                                              \
  template chol::Status chol::cuda::run_warps<T>(const InterleavedCall<T>&, cudaStream_t); \
  template int64_t chol::cuda::warps_need<T>(int64_t);
