// Row-cyclic layout of a small lower triangle (register/cyclic_1d.cuh).
#pragma once

#include "batched/register/cyclic_1d.cuh"

namespace chol::cuda {

template <class T, int N, int kLanes>
struct RegisterRows : RegisterTriangle<RegisterRows<T, N, kLanes>, T, N, kLanes, false> {
  using Triangle = RegisterTriangle<RegisterRows, T, N, kLanes, false>;
  using Triangle::a;
  using Triangle::kTiles;
  using Triangle::kWide;

  /// Loads and factors. @return 0, or the order of the first leading minor that is not positive
  /// definite.
  __device__ __forceinline__ int factor(const LowerView<T>& A, T* shared, int n, int bound, int r) {
    Triangle::load(A, n, r);
    publish(shared, 0, r);
    return Triangle::template eliminate<true>(shared, n, bound, r);
  }

  /// Finished columns are never changed: only the masked variant exists.
  template <int j, bool kMasked>
  __device__ __forceinline__ void eliminate_column(const T* column, T* next, Real<T> pivot, int r) {
    const Real<T> inverse_root = reciprocal_sqrt(pivot);
    T m[kTiles];
#pragma unroll
    for (int g = j / kLanes; g < kTiles; ++g) {
      const T l = scale(a[g][j], inverse_root);
      m[g] = scale(l, inverse_root);
      a[g][j] = l;
    }
    if (r == j % kLanes) a[j / kLanes][j] = from_real<T>(sqrt_from(pivot, inverse_root));
#pragma unroll
    for (int v = (j + 1) / kWide * kWide; v < N; v += kWide) {
      T wide[kWide];
      *reinterpret_cast<float4*>(wide) = *reinterpret_cast<const float4*>(column + v);
#pragma unroll
      for (int k = v; k < v + kWide; ++k) {
        if (k <= j) continue;
#pragma unroll
        for (int g = k / kLanes; g < kTiles; ++g)
          a[g][k] = subtract_product_conj(a[g][k], m[g], wide[k - v]);
        if (k == j + 1) publish(next, k, r);
      }
    }
  }

 private:
  __device__ __forceinline__ void publish(T* column, int j, int r) const {
#pragma unroll
    for (int g = j / kLanes; g < kTiles; ++g) column[g * kLanes + r] = a[g][j];
  }
};

}  // namespace chol::cuda
