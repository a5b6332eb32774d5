// A small lower triangle by its rows, which lie in lanes (register_triangle.cuh).
#pragma once

#include "batched/register_triangle.cuh"

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

  /// Eliminated columns are never touched: there is one way, the careful one.
  template <int j, bool kCareful>
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

  /// x := L^-H L^-1 x for kCount right-hand sides; the lane holds the rows of
  /// x as those of L.
  template <int kCount>
  __device__ __forceinline__ void solve(const Real<T> (&inverse)[kTiles], T (&x)[kCount][kTiles],
                                        int bound, int r) const {
#pragma unroll
    for (int j = 0; j < N; ++j) {
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kCount; ++q) {
        const T xj = from_lane(scale(x[q][j / kLanes], inverse[j / kLanes]), j % kLanes, kLanes);
#pragma unroll
        for (int g = j / kLanes; g < kTiles; ++g) {
          const T updated = subtract_product(x[q][g], a[g][j], xj);
          if (g > j / kLanes)
            x[q][g] = updated;
          else
            x[q][g] = select(r > j % kLanes, updated, select(r == j % kLanes, xj, x[q][g]));
        }
      }
    }
#pragma unroll
    for (int j = N - 1; j >= 0; --j) {
      if (j >= bound) continue;
#pragma unroll
      for (int q = 0; q < kCount; ++q) {
        T sum = from_real<T>(0);
        if (r > j % kLanes) sum = add_conj_product(sum, a[j / kLanes][j], x[q][j / kLanes]);
#pragma unroll
        for (int g = j / kLanes + 1; g < kTiles; ++g) sum = add_conj_product(sum, a[g][j], x[q][g]);
        sum = sum_lanes<kLanes>(sum);
        T& own = x[q][j / kLanes];
        own = select(r == j % kLanes, scale(subtract(own, sum), inverse[j / kLanes]), own);
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
