// Small operations on tiles and vectors.
#pragma once

#include "common/scalar.cuh"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

inline constexpr int kThreads = 256;
inline constexpr int kInnerBlocks = 256;

__device__ __forceinline__ int64_t first_of_thread() {
  return int64_t{blockIdx.x} * kThreads + threadIdx.x;
}
__device__ __forceinline__ int64_t grid_step() { return int64_t{gridDim.x} * kThreads; }

/// block.y: index of the copy. Adjoints are formed by tiles of 32 by 32.
template <class T>
__global__ void __launch_bounds__(kThreads) copy_kernel(const CopyItem* __restrict__ items) {
  const CopyItem item = items[blockIdx.y];
  const T* const from = static_cast<const T*>(item.from);
  T* const to = static_cast<T*>(item.to);
  if (!item.adjoint) {
    for (int64_t e = first_of_thread(); e < item.rows * item.columns; e += grid_step()) {
      const int64_t i = e % item.rows, j = e / item.rows;
      to[i + j * item.ld_to] = from[i + j * item.ld_from];
    }
    return;
  }
  __shared__ T tile[32][33];
  const int64_t down = (item.rows + 31) / 32, across = (item.columns + 31) / 32;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int64_t t = blockIdx.x; t < down * across; t += gridDim.x) {
    const int64_t i0 = t % down * 32, j0 = t / down * 32;
    for (int j = y; j < 32; j += kThreads / 32)
      if (i0 + x < item.rows && j0 + j < item.columns)
        tile[j][x] = from[i0 + x + (j0 + j) * item.ld_from];
    __syncthreads();
    for (int i = y; i < 32; i += kThreads / 32)
      if (i0 + i < item.rows && j0 + x < item.columns)
        to[j0 + x + (i0 + i) * item.ld_to] = conj(tile[x][i]);
    __syncthreads();
  }
}

/// Contiguous tiles in row-major order: the upper triangle is set from the lower one.
template <class T>
__global__ void __launch_bounds__(kThreads) hermitian_kernel(const CopyItem* __restrict__ items) {
  const CopyItem item = items[blockIdx.y];
  T* const D = static_cast<T*>(item.to);
  const int64_t n = item.rows;
  for (int64_t e = first_of_thread(); e < n * n; e += grid_step()) {
    const int64_t i = e % n, j = e / n;
    if (i == j) D[e] = from_real<T>(real(D[e]));
    if (i > j) D[j + i * n] = conj(D[e]);
  }
}

template <class T>
__global__ void add_to_diagonal_kernel(T* A, int64_t n, Real<T> shift) {
  const int64_t i = first_of_thread();
  if (i < n) A[i + i * n] = add(A[i + i * n], from_real<T>(shift));
}
template <class T>
__global__ void read_diagonal_kernel(const T* A, int64_t n, Real<T>* to) {
  const int64_t i = first_of_thread();
  if (i < n) to[i] = real(A[i + i * n]);
}
template <class T>
__global__ void __launch_bounds__(kThreads) clear_upper_kernel(T* A, int64_t n) {
  for (int64_t e = first_of_thread(); e < n * n; e += grid_step())
    if (e % n < e / n) A[e] = from_real<T>(0);
}

template <class T>
__global__ void scale_kernel(T* x, int64_t n, Real<T> factor) {
  for (int64_t i = first_of_thread(); i < n; i += grid_step()) x[i] = scale(x[i], factor);
}
template <class T>
__global__ void combine_kernel(Real<T> a, const T* x, Real<T> b, T* y, int64_t n) {
  for (int64_t i = first_of_thread(); i < n; i += grid_step())
    y[i] = add_scaled(scale(x[i], a), y[i], b);
}
/// sums[block]: partial sum of the real part of x^H y.
template <class T>
__global__ void __launch_bounds__(kThreads)
    inner_kernel(const T* x, const T* y, int64_t n, double* sums) {
  double sum = 0;
  for (int64_t i = first_of_thread(); i < n; i += grid_step()) {
    if constexpr (Traits<T>::is_complex)
      sum += double(x[i].re) * double(y[i].re) + double(x[i].im) * double(y[i].im);
    else
      sum += double(x[i]) * double(y[i]);
  }
  __shared__ double of_warps[kThreads / 32];
  sum = sum_lanes<32>(sum);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (const double of_warp : of_warps) sum += of_warp;
  sums[blockIdx.x] = sum;
}

/// Word `which` of Philox 4x32-10: see base/philox.hpp.
__device__ __forceinline__ void philox(uint64_t counter, uint64_t key, uint32_t (&c)[4]) {
  c[0] = static_cast<uint32_t>(counter);
  c[1] = static_cast<uint32_t>(counter >> 32);
  c[2] = c[3] = 0;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const uint32_t high_a = __umulhi(0xD2511F53u, c[0]), low_a = 0xD2511F53u * c[0];
    const uint32_t high_b = __umulhi(0xCD9E8D57u, c[2]), low_b = 0xCD9E8D57u * c[2];
    c[0] = high_b ^ c[1] ^ k0;
    c[1] = low_b;
    c[2] = high_a ^ c[3] ^ k1;
    c[3] = low_a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}
__device__ __forceinline__ double uniform(uint32_t high, uint32_t low) {
  const uint64_t word = uint64_t{high} << 32 | low;
  return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;
}

/// Box-Muller transform, as on the host.
template <class T>
__global__ void __launch_bounds__(kThreads) random_kernel(T* x, int64_t n, uint64_t seed) {
  for (int64_t i = first_of_thread(); i < n; i += grid_step()) {
    uint32_t words[4];
    philox(static_cast<uint64_t>(i), seed, words);
    const double radius = sqrt(-2 * log(uniform(words[0], words[1])));
    double sine, cosine;
    sincospi(2 * uniform(words[2], words[3]), &sine, &cosine);
    if constexpr (Traits<T>::is_complex)
      x[i] = {static_cast<Real<T>>(radius * cosine * 0.70710678118654752),
              static_cast<Real<T>>(radius * sine * 0.70710678118654752)};
    else
      x[i] = static_cast<T>(radius * cosine);
  }
}

/// Inverts the lower triangular blocks of order kOrder on the diagonal: one per thread block, one
/// column per thread. The result is stored at the same positions of X, whose other elements are
/// zero.
template <class T>
__global__ void invert_small_kernel(const T* L, int64_t n, int order, T* X) {
  extern __shared__ __align__(16) char memory[];
  T* const tile = reinterpret_cast<T*>(memory);
  const int64_t first = int64_t{blockIdx.x} * order;
  const int m = static_cast<int>(smaller<int64_t>(order, n - first));
  for (int e = threadIdx.x; e < m * m; e += blockDim.x)
    tile[e] = L[first + e % m + (first + e / m) * n];
  __syncthreads();
  const int j = threadIdx.x;
  if (j >= m) return;
  T* const x = X + first + (first + j) * n;
  for (int i = j; i < m; ++i) {
    T sum = from_real<T>(i == j ? Real<T>(1) : Real<T>(0));
    for (int k = j; k < i; ++k) sum = subtract_product(sum, tile[i + k * m], x[k]);
    x[i] = scale(sum, Real<T>(1) / real(tile[i + i * m]));
  }
}

/// The inverse of a diagonal pivot of L (n by n). The pivot has order 2 if the element above the
/// diagonal is not zero.
template <class T>
struct InversePivot {
  bool is_pair, is_second;
  T a, b, c, d;  ///< its elements in row-major order

  __device__ InversePivot(const T* L, int64_t n, int64_t j) {
    const auto l = [&](int64_t row, int64_t column) { return L[row + column * n]; };
    const auto differs = [](T x) {
      if constexpr (Traits<T>::is_complex)
        return x.re != 0 || x.im != 0;
      else
        return x != 0;
    };
    is_second = j > 0 && differs(l(j - 1, j));
    is_pair = is_second || (j + 1 < n && differs(l(j, j + 1)));
    const int64_t k = is_second ? j - 1 : j;
    if (!is_pair) {
      a = inverse_of(l(j, j));
      return;
    }
    const T zero = from_real<T>(0), p = l(k, k), q = l(k, k + 1), r = l(k + 1, k),
            s = l(k + 1, k + 1);
    const T determinant =
        subtract_product(subtract_product(zero, negative(p), s), r, q);  // p s - r q
    const T factor = inverse_of(determinant);
    const auto times = [&](T x) { return subtract_product(zero, negative(x), factor); };
    a = times(s);
    b = times(negative(q));
    c = times(negative(r));
    d = times(p);
  }

 private:
  __device__ static T inverse_of(T x) {
    if constexpr (Traits<T>::is_complex) {
      const Real<T> size = x.re * x.re + x.im * x.im;
      return {x.re / size, -x.im / size};
    } else {
      return 1 / x;
    }
  }
};

/// to := L inverse(B), with the pivots B of L. L is unit lower triangular.
template <class T>
__global__ void __launch_bounds__(kThreads) divide_columns_kernel(const T* L, int64_t n, T* to) {
  for (int64_t e = first_of_thread(); e < n * n; e += grid_step()) {
    const int64_t i = e % n, j = e / n;
    const InversePivot<T> pivot(L, n, j);
    const int64_t k = pivot.is_second ? j - 1 : j;
    const T zero = from_real<T>(0);
    T x = zero;
    if (i == j)
      x = from_real<T>(1);
    else if (i > j && !pivot.is_pair)
      x = subtract_product(zero, negative(L[e]), pivot.a);
    else if (i > k + 1)
      x = subtract_product(
          subtract_product(zero, negative(L[i + k * n]), pivot.is_second ? pivot.b : pivot.a),
          negative(L[i + (k + 1) * n]), pivot.is_second ? pivot.d : pivot.c);
    to[e] = x;
  }
}

/// X := inverse(B) X.
template <class T>
__global__ void __launch_bounds__(kThreads) divide_rows_kernel(const T* L, int64_t n, T* X) {
  for (int64_t e = first_of_thread(); e < n * n; e += grid_step()) {
    const int64_t i = e % n, j = e / n;
    const InversePivot<T> pivot(L, n, i);
    const T zero = from_real<T>(0);
    if (!pivot.is_pair) {
      X[e] = subtract_product(zero, negative(X[e]), pivot.a);
    } else if (!pivot.is_second) {
      const T x = X[e], y = X[i + 1 + j * n];
      X[e] = subtract_product(subtract_product(zero, negative(x), pivot.a), negative(y), pivot.b);
      X[i + 1 + j * n] =
          subtract_product(subtract_product(zero, negative(x), pivot.c), negative(y), pivot.d);
    }
  }
}

}  // namespace chol::cuda::tlr
