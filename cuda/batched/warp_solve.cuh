// Solves with the factors of a batch, one warp a matrix: the triangle is read once into shared
// memory and serves both sweeps, the right-hand sides lie in registers, and nobody waits at a
// barrier. Many matrices a multiprocessor hide the chain through the unknowns.
#pragma once

#include <utility>

#include "batched/async_copy.cuh"
#include "batched/kernels.hpp"
#include "batched/packed_triangle.cuh"

namespace chol::cuda {

/// The matrix of a warp: lane r has rows, and columns, r, r + 32, ... of it.
/// @tparam kParts rows of a lane. @tparam kColumns right-hand sides at a time.
template <class T, int kParts, int kColumns>
struct WarpSolve {
  PackedTriangle<T> L;
  int n, lane;
  Real<T> inverse[kParts];  ///< of this lane's diagonal elements

  /// Row 0 of column j, for j whose columns start further down too.
  __device__ __forceinline__ T* column(int j) const { return L.at(0, j); }

  __device__ __forceinline__ void load(const LowerView<T>& A) {
    if (A.swapped) {
#pragma unroll
      for (int m = 0; m < kParts; ++m) {
        const int j = 32 * m + lane;
        const T* from = A.a + int64_t(32 * m) * A.ld + j;
        T* to = column(j);
#pragma unroll 8
        for (int i = 32 * m; i < n; ++i, from += A.ld)
          if (j <= i) copy_async<sizeof(T)>(to + i, from);
      }
    } else {
      const T* from = A.a + lane;
      for (int j = 0; j < n; ++j, from += A.ld) {
        T* const to = column(j) + lane;
#pragma unroll
        for (int m = 0; m < kParts; ++m) {
          const int i = 32 * m + lane;
          if (j <= i && i < n) copy_async<sizeof(T)>(to + 32 * m, from + 32 * m);
        }
      }
    }
    close_copy_group();
    wait_for_copy_groups<0>();
    __syncwarp();
#pragma unroll
    for (int m = 0; m < kParts; ++m) {
      const int i = 32 * m + lane;
      inverse[m] = i < n ? Real<T>(1) / real(*L.at(i, i)) : Real<T>(0);
    }
  }

  /// Unknown j = 32 kPart + step of each right-hand side, in all lanes, and at its place in v.
  template <int kPart>
  __device__ __forceinline__ void take(T (&x)[kColumns], T (&v)[kParts][kColumns], int step) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      x[q] = from_lane(scale(v[kPart][q], inverse[kPart]), step);
      v[kPart][q] = select(lane == step, x[q], v[kPart][q]);
    }
  }
  template <int kPart>
  __device__ __forceinline__ void forward(T (&v)[kParts][kColumns]) const {
    const int steps = min(n - 32 * kPart, 32);
#pragma unroll 4
    for (int step = 0; step < steps; ++step) {
      T x[kColumns];
      take<kPart>(x, v, step);
      const T* const l = column(32 * kPart + step) + lane;
#pragma unroll
      for (int m = kPart; m < kParts; ++m) {
        if ((m == kPart && lane <= step) || 32 * m + lane >= n) continue;
        const T element = l[32 * m];
#pragma unroll
        for (int q = 0; q < kColumns; ++q) v[m][q] = subtract_product(v[m][q], element, x[q]);
      }
    }
  }
  template <int kPart>
  __device__ __forceinline__ void backward(T (&v)[kParts][kColumns]) const {
    const T* l[kPart + 1];
#pragma unroll
    for (int m = 0; m <= kPart; ++m) l[m] = column(32 * m + lane) + 32 * kPart;
#pragma unroll 4
    for (int step = min(n - 32 * kPart, 32) - 1; step >= 0; --step) {
      T x[kColumns];
      take<kPart>(x, v, step);
#pragma unroll
      for (int m = 0; m <= kPart; ++m) {
        if (m == kPart && lane >= step) continue;
        const T element = conj(l[m][step]);
#pragma unroll
        for (int q = 0; q < kColumns; ++q) v[m][q] = subtract_product(v[m][q], element, x[q]);
      }
    }
  }

  /// Columns [first, first + kColumns) of B, as far as there are `columns`.
  __device__ __forceinline__ void solve(T* B, int64_t ldb, int64_t first, int64_t columns,
                                        bool conjugated) const {
    T v[kParts][kColumns];
    const auto for_each = [&](auto&& body) {
#pragma unroll
      for (int m = 0; m < kParts; ++m)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          body(v[m][q], B + (first + q) * ldb + 32 * m + lane,
               32 * m + lane < n && first + q < columns);
    };
    for_each([&](T& x, const T* b, bool there) {
      x = there ? conj_if(conjugated, *b) : from_real<T>(0);
    });
    sweep(v, std::make_integer_sequence<int, kParts>{});
    for_each([&](const T& x, T* b, bool there) {
      if (there) *b = conj_if(conjugated, x);
    });
  }
  template <int... kPart>
  __device__ __forceinline__ void sweep(T (&v)[kParts][kColumns],
                                        std::integer_sequence<int, kPart...>) const {
    (forward<kPart>(v), ...);
    (backward<kParts - 1 - kPart>(v), ...);
  }
};

template <class T, int kParts, int kColumns>
__global__ void __launch_bounds__(32, 16) warp_solve_kernel(BatchProblem<T> problem) {
  const int64_t b = blockIdx.x;
  if (!problem.solves(b)) return;
  extern __shared__ __align__(16) unsigned char shared[];
  const int n = static_cast<int>(problem.order(b));
  WarpSolve<T, kParts, kColumns> matrix{
      {reinterpret_cast<T*>(shared), n | 1}, n, static_cast<int>(threadIdx.x), {}};
  matrix.load(lower_view(problem, b));
  T* const B = problem.B.matrix(b);
  const int64_t ldb = problem.B.leading_dimension(b), columns = problem.rhs_count(b);
  for (int64_t first = 0; first < columns; first += kColumns)
    matrix.solve(B, ldb, first, columns, problem.swapped);
}

template <class T, int kParts, int kColumns>
Status launch_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const size_t bytes = sizeof(T) * PackedTriangle<T>::elements(static_cast<int>(problem.n));
  auto* kernel = warp_solve_kernel<T, kParts, kColumns>;
  if (bytes > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return status_of(error, "warp solve: shared memory");
  }
  kernel<<<static_cast<unsigned>(problem.count), 32, bytes, stream>>>(problem);
  return launched("warp solve");
}

template <class T>
Status run_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const bool one = problem.nrhs == 1;
  if (problem.n <= 64)
    return one ? launch_warp_solve<T, 2, 1>(problem, stream)
               : launch_warp_solve<T, 2, kWarpSolveColumns>(problem, stream);
  return one ? launch_warp_solve<T, 4, 1>(problem, stream)
             : launch_warp_solve<T, 4, kWarpSolveColumns>(problem, stream);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_WARP_SOLVE(T) \
  template chol::Status chol::cuda::run_warp_solve<T>(const BatchProblem<T>&, cudaStream_t);
