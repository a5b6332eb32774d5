// Solves of orders beyond a thread's registers by a warp a matrix. A block has as many matrices as
// share a sector of memory and copies their triangles to shared memory, not interleaved, for the
// solves of column-major batches.
#pragma once

#include "batched/solve/warp/launch.cuh"
#include "interleaved/kernels.hpp"

namespace chol::cuda {

template <class T, int kGroup, int kColumns>
struct WarpTriangles {
  using Solve = WarpSolve<T, false, kGroup, kColumns>;
  using Triangle = typename Solve::Triangle;
  static constexpr int kMatrices = 32 / int(sizeof(T));
  static constexpr int kRowsAtOnce = 32 / kMatrices;  ///< that a warp copies of a column
  static constexpr int kThreads = 32 * kMatrices;

  /// Distance of the matrices in shared memory, which distributes them over the banks.
  __host__ __device__ static constexpr int distance(int n) {
    constexpr int kLine = 128 / int(sizeof(T)), kBetween = Triangle::kWide;
    return (Triangle::elements(n) + Solve::kScratch + kLine - 1) / kLine * kLine + kBetween;
  }
  static constexpr int64_t bytes(int64_t n) {
    return int64_t(sizeof(T)) * kMatrices * distance(int(n));
  }
  /// Blocks of the smallest of these orders that fit a multiprocessor, or that have enough warps.
  static constexpr int kBlocks =
      larger(1, smaller(int(224 * 1024 / bytes(16 * kGroup + 1)), 1024 / kThreads));

  /// Starts the copies of the triangles of this block. Lanes run over the matrices first, then over
  /// rows; warps over columns.
  __device__ __forceinline__ static void start_copies(const InterleavedCall<T>& call, T* shared,
                                                      int warp, int lane) {
    const int n = call.n, matrix = lane % kMatrices, row = lane / kMatrices;
    const int64_t b = int64_t(blockIdx.x) * kMatrices + matrix;
    if (b >= call.batch) return;
    const auto A = call.triangle(b);
    const Triangle held{shared + matrix * distance(n), n};
    const int past_zeros = Triangle::kBlock * Triangle::blocks(n);
    for (int j = warp; j < n; j += kMatrices) {
      const T* p = reinterpret_cast<const T*>(&A.at(j + row, j));
      T* const run = held.run(j);
#pragma unroll 4
      for (int i = j + row; i < past_zeros; i += kRowsAtOnce, p += kRowsAtOnce * A.rs)
        if (i < n)
          copy_async<sizeof(T)>(run + held.place(i), p);
        else
          run[held.place(i)] = from_real<T>(0);
    }
  }
};

template <class T, int kGroup, int kColumns>
__global__ void __launch_bounds__(WarpTriangles<T, kGroup, kColumns>::kThreads,
                                  WarpTriangles<T, kGroup, kColumns>::kBlocks)
    warps_kernel(InterleavedCall<T> call) {
  using Triangles = WarpTriangles<T, kGroup, kColumns>;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T* const shared = reinterpret_cast<T*>(shared_bytes);
  const int warp = __shfl_sync(kFullWarp, int(threadIdx.x) / 32, 0), lane = threadIdx.x % 32;
  Triangles::start_copies(call, shared, warp, lane);
  close_copy_group();
  wait_for_copy_groups<0>();
  __syncthreads();
  const int64_t b = int64_t(blockIdx.x) * Triangles::kMatrices + warp;
  if (b >= call.batch || call.failed(b)) return;
  const typename Triangles::Triangle triangle{shared + warp * Triangles::distance(call.n), call.n};
  typename Triangles::Solve solve(triangle, triangle.data + triangle.elements(call.n), lane);
  solve.load_block();
  const auto B = call.right_hand_sides(b);
  T* const first = reinterpret_cast<T*>(B.base);
  for (int64_t q = 0; q < call.nrhs; q += kColumns)
    solve.solve(
        first + q * B.cs, B.rs, B.cs, call.nrhs - q, call.swapped, [](int) {}, [](auto&) {});
}

template <class T, int kGroup, int kColumns>
Status launch_warps(const InterleavedCall<T>& call, cudaStream_t stream) {
  using Triangles = WarpTriangles<T, kGroup, kColumns>;
  const auto bytes = static_cast<size_t>(Triangles::bytes(call.n));
  const int64_t blocks = (call.batch + Triangles::kMatrices - 1) / Triangles::kMatrices;
  return launch("interleaved, warps", warps_kernel<T, kGroup, kColumns>,
                static_cast<unsigned>(blocks), Triangles::kThreads, bytes, stream, call);
}

template <class T>
int64_t warps_need(int64_t n) {
  return n < 1 || n > kWarpsOrder
             ? INT64_MAX
             : WarpTriangles<T, kMostWarpGroup, kWarpSolveColumns<T, kMostWarpGroup>>::bytes(n);
}

template <class T>
Status run_warps(const InterleavedCall<T>& call, cudaStream_t stream) {
  return for_warp_group(call.n, [&]<int kGroup>(std::integral_constant<int, kGroup>) {
    return call.nrhs == 1 ? launch_warps<T, kGroup, 1>(call, stream)
                          : launch_warps<T, kGroup, kWarpSolveColumns<T, kGroup>>(call, stream);
  });
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_INTERLEAVED_WARP_SOLVE(T)                                         \
  template chol::Status chol::cuda::run_warps<T>(const InterleavedCall<T>&, cudaStream_t); \
  template int64_t chol::cuda::warps_need<T>(int64_t);
