// Column-cyclic layout of a small lower triangle (register/cyclic_1d.cuh), for the upper triangle
// in memory: the counterpart of register/row_cyclic.cuh.
#pragma once

#include "batched/register/cyclic_1d.cuh"
#include "batched/register/masked_update.cuh"

namespace chol::cuda {

template <class T, int N, int kLanes>
struct RegisterColumns : RegisterTriangle<RegisterColumns<T, N, kLanes>, T, N, kLanes, true> {
  using Triangle = RegisterTriangle<RegisterColumns, T, N, kLanes, true>;
  using Triangle::a;
  using Triangle::kTiles;
  using Triangle::kWide;

  /// Loads and factors. Columns are scaled after the elimination, each lane its own.
  /// @return 0, or the order of the first leading minor that is not positive definite.
  __device__ __forceinline__ int factor(const LowerView<T>& A, T* shared, int n, int bound, int r) {
    const int info = factor_masked_if_needed<T>(
        [&](auto care) { return load_and_eliminate<care.value>(A, shared, n, bound, r); });
#pragma unroll
    for (int g = 0; g < kTiles; ++g)
#pragma unroll
      for (int i = g * kLanes; i < N; ++i) {
        const T scaled = scale(a[g][i], inverse_roots[g]);
        a[g][i] = select(i - g * kLanes == r, from_real<T>(roots[g]), scaled);
      }
    return info;
  }

  /// @tparam kMasked see factor_masked_if_needed.
  template <int j, bool kMasked>
  __device__ __forceinline__ void eliminate_column(const T* column, T* next, Real<T> pivot, int r) {
    constexpr int kFirst = j / kLanes;
    const Real<T> inverse_root = reciprocal_sqrt(pivot);
    const Real<T> root = sqrt_from(pivot, inverse_root);
    inverse_roots[kFirst] = r == j % kLanes ? inverse_root : inverse_roots[kFirst];
    roots[kFirst] = r == j % kLanes ? root : roots[kFirst];
    T m[kTiles];
#pragma unroll
    for (int g = kFirst; g < kTiles; ++g)
      m[g] = scale(scale(column[g * kLanes + r], inverse_root), inverse_root);
    const bool is_ahead = r > j % kLanes;
    m[kFirst] = select(is_ahead, m[kFirst], from_real<T>(0));
#pragma unroll
    for (int v = (j + 1) / kWide * kWide; v < N; v += kWide) {
      T wide[kWide];
      *reinterpret_cast<float4*>(wide) = *reinterpret_cast<const float4*>(column + v);
#pragma unroll
      for (int i = v; i < v + kWide; ++i) {
        if (i <= j) continue;
        const T updated = subtract_product_conj(a[kFirst][i], wide[i - v], m[kFirst]);
        a[kFirst][i] = kMasked ? select(is_ahead, updated, a[kFirst][i]) : updated;
#pragma unroll
        for (int g = kFirst + 1; g <= i / kLanes; ++g)
          a[g][i] = subtract_product_conj(a[g][i], wide[i - v], m[g]);
        if constexpr (j + 1 < N) publish<j + 1>(next, i, r);
      }
    }
  }

 private:
  template <bool kMasked>
  __device__ __forceinline__ int load_and_eliminate(const LowerView<T>& A, T* shared, int n,
                                                    int bound, int r) {
    Triangle::load(A, n, r);
#pragma unroll
    for (int g = 0; g < kTiles; ++g) inverse_roots[g] = roots[g] = 1;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < N; ++i) publish<0>(shared, i, r);
    return Triangle::template eliminate<kMasked>(shared, n, bound, r);
  }

  Real<T> inverse_roots[kTiles], roots[kTiles];  ///< of the pivots of the lane's columns

  /// Row i of column j by the lane that holds it.
  template <int j>
  __device__ __forceinline__ void publish(T* column, int i, int r) const {
    if (r == j % kLanes) column[i] = a[j / kLanes][i];
  }
};

}  // namespace chol::cuda
