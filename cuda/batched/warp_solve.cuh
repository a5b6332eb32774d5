// Solves with the factors of a batch, one warp a matrix: the triangle is read once into shared
// memory and serves both sweeps, the right-hand sides lie in registers, and nobody waits at a
// barrier. Many matrices a multiprocessor hide the chain through the unknowns.
#pragma once

#include <type_traits>
#include <utility>

#include "batched/async_copy.cuh"
#include "batched/kernels.hpp"
#include "batched/packed_triangle.cuh"

namespace chol::cuda {

/// The matrix of a warp: lane r has rows, and columns, r, r + 32, ... of it.
///
/// Elements that are not there are read too, rather than asked about, and not used: kSlack of them
/// past the end of the triangle.
/// @tparam kParts rows of a lane. @tparam kColumns right-hand sides at a time.
template <class T, int kParts, int kColumns>
struct WarpSolve {
  static constexpr int kSlack = 32 * kParts;
  static constexpr int kWidth = PackedTriangle<T>::kWidth;
  PackedTriangle<T> L;
  int n, lane;
  Real<T> inverse[kParts];  ///< of this lane's diagonal elements

  /// body(row 0, distance of the columns) for each eight columns of the part.
  template <int kPart, class Body>
  __device__ __forceinline__ void for_columns(Body&& body) const {
#pragma unroll 1
    for (int h = 32 * kPart / kWidth; h < min((n + kWidth - 1) / kWidth, 32 * (kPart + 1) / kWidth);
         ++h)
      body(h * kWidth - 32 * kPart, L.column(h, 0) - kWidth * h, L.pitch(h));
  }

  __device__ __forceinline__ void load(const LowerView<T>& A) {
    load_parts(A, std::make_integer_sequence<int, kParts>{});
    close_copy_group();
    wait_for_copy_groups<0>();
    __syncwarp();
    invert_diagonal();
  }
  __device__ __forceinline__ void invert_diagonal() {
#pragma unroll
    for (int m = 0; m < kParts; ++m) {
      const int i = 32 * m + lane;
      inverse[m] = i < n ? Real<T>(1) / real(*L.at(i, i)) : Real<T>(0);
    }
  }

  template <int kPart>
  __device__ __forceinline__ void forward(T (&v)[kParts][kColumns]) const {
    for_columns<kPart>([&](int first, const T* l, int pitch) {
      l += lane;
#pragma unroll
      for (int c = 0; c < kWidth; ++c, l += pitch) {
        // Columns past the last one meet rows past the last one only.
        T x[kColumns];
        take<kPart>(x, v, first + c);
#pragma unroll
        for (int m = kPart; m < kParts; ++m) {
          const T element = l[32 * m];
#pragma unroll
          for (int q = 0; q < kColumns; ++q)
            v[m][q] = select(m > kPart || lane > first + c,
                             subtract_product(v[m][q], element, x[q]), v[m][q]);
        }
      }
    });
    finish<kPart>(v);
  }
  template <int kPart>
  __device__ __forceinline__ void backward(T (&v)[kParts][kColumns]) const {
    const T* l[kPart + 1];
#pragma unroll
    for (int m = 0; m <= kPart; ++m) l[m] = L.at(32 * kPart, min(32 * m + lane, n - 1));
#pragma unroll 8
    for (int step = min(n - 32 * kPart, 32) - 1; step >= 0; --step) {
      T x[kColumns];
      take<kPart>(x, v, step);
#pragma unroll
      for (int m = 0; m <= kPart; ++m) {
        const T element = conj(l[m][step]);
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          v[m][q] =
              select(m < kPart || lane < step, subtract_product(v[m][q], element, x[q]), v[m][q]);
      }
    }
    finish<kPart>(v);
  }

  /// `columns` right-hand sides, whose rows lie `down` and whose columns `right` of each other.
  __device__ __forceinline__ void solve_all(T* B, int64_t down, int64_t right, int64_t columns,
                                            bool conjugated) const {
    for (int64_t first = 0; first < columns; first += kColumns)
      solve(B + first * right, down, right, columns - first, conjugated);
  }
  /// The first kColumns of them, as far as there are so many.
  __device__ __forceinline__ void solve(T* B, int64_t down, int64_t right, int64_t columns,
                                        bool conjugated) const {
    T v[kParts][kColumns];
    const auto for_each = [&](auto&& body) {
#pragma unroll
      for (int m = 0; m < kParts; ++m)
#pragma unroll
        for (int q = 0; q < kColumns; ++q)
          body(v[m][q], B + q * right + (32 * m + lane) * down, 32 * m + lane < n && q < columns);
    };
    for_each([&](T& x, const T* b, bool there) {
      x = there ? conj_if(conjugated, *b) : from_real<T>(0);
    });
    sweep(v, std::make_integer_sequence<int, kParts>{});
    for_each([&](const T& x, T* b, bool there) {
      if (there) *b = conj_if(conjugated, x);
    });
  }

 private:
  /// Unknown 32 kPart + step of each right-hand side, in all lanes.
  template <int kPart>
  __device__ __forceinline__ void take(T (&x)[kColumns], const T (&v)[kParts][kColumns],
                                       int step) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q) x[q] = from_lane(scale(v[kPart][q], inverse[kPart]), step);
  }
  /// The part's unknowns at their places.
  template <int kPart>
  __device__ __forceinline__ void finish(T (&v)[kParts][kColumns]) const {
#pragma unroll
    for (int q = 0; q < kColumns; ++q) v[kPart][q] = scale(v[kPart][q], inverse[kPart]);
  }
  template <int... kPart>
  __device__ __forceinline__ void load_parts(const LowerView<T>& A,
                                             std::integer_sequence<int, kPart...>) const {
    (load_part<kPart>(A), ...);
  }
  template <int kPart>
  __device__ __forceinline__ void load_part(const LowerView<T>& A) const {
    if (A.swapped) {
      const int j = 32 * kPart + lane;
      const T* from = A.a + int64_t(32 * kPart) * A.ld + j;
      T* const to = L.at(0, j);
#pragma unroll 8
      for (int i = 32 * kPart; i < n; ++i, from += A.ld)
        if (j <= i) copy_async<sizeof(T)>(to + i, from);
    } else {
      for_columns<kPart>([&](int first, T* l, int pitch) {
        const T* from = A.a + int64_t(32 * kPart + first) * A.ld + lane;
        l += lane;
#pragma unroll
        for (int c = 0; c < kWidth; ++c, from += A.ld, l += pitch)
#pragma unroll
          for (int m = kPart; m < kParts; ++m)
            if (32 * m + lane < n && (m > kPart || lane >= first + c))
              copy_async<sizeof(T)>(l + 32 * m, from + 32 * m);
      });
    }
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
  matrix.solve_all(problem.B.matrix(b), 1, problem.B.leading_dimension(b), problem.rhs_count(b),
                   problem.swapped);
}

template <class T, int kParts, int kColumns>
Status launch_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const size_t bytes = sizeof(T) * (PackedTriangle<T>::elements(static_cast<int>(problem.n)) +
                                    WarpSolve<T, kParts, kColumns>::kSlack);
  auto* kernel = warp_solve_kernel<T, kParts, kColumns>;
  if (bytes > 48 * 1024) {
    const cudaError_t error = cudaFuncSetAttribute(
        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return status_of(error, "warp solve: shared memory");
  }
  kernel<<<static_cast<unsigned>(problem.count), 32, bytes, stream>>>(problem);
  return launched("warp solve");
}

inline constexpr int kMostWarpParts = 4;

/// What one warp takes of shared memory bounds the order.
template <class T>
int warp_solve_limit() {
  int device = 0, most = 0, n = 32 * kMostWarpParts;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  while (n > 0 && sizeof(T) * (PackedTriangle<T>::elements(n) + 32 * kMostWarpParts) > size_t(most))
    n -= 8;
  return n;
}

/// Calls body(parts) with the rows of a lane that orders up to n need.
template <class Body>
Status for_parts(int64_t n, Body&& body) {
  if (n <= 32) return body(std::integral_constant<int, 1>{});
  if (n <= 64) return body(std::integral_constant<int, 2>{});
  if (n <= 96) return body(std::integral_constant<int, 3>{});
  return body(std::integral_constant<int, kMostWarpParts>{});
}

template <class T>
Status run_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  return for_parts(problem.n, [&]<int kParts>(std::integral_constant<int, kParts>) {
    return problem.nrhs == 1 ? launch_warp_solve<T, kParts, 1>(problem, stream)
                             : launch_warp_solve<T, kParts, kWarpSolveColumns>(problem, stream);
  });
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_WARP_SOLVE(T)                                                       \
  template chol::Status chol::cuda::run_warp_solve<T>(const BatchProblem<T>&, cudaStream_t); \
  template int chol::cuda::warp_solve_limit<T>();
