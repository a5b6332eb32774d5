// A diagonal block of 16 columns and its inverse, by one warp.
#pragma once

#include "common/reciprocal.cuh"
#include "native/persistent/block.cuh"

namespace chol::cuda::persistent {

/// Range of pivots whose products, and whose reciprocal roots by the hardware's estimate and one
/// step of third order, are accurate to an ulp or two.
inline constexpr double kLeastPivot = 0x1p-500, kLargestPivot = 0x1p500;

__device__ __forceinline__ double inverse_root(double x) {
  const double y = estimate_reciprocal_root(x);
  const double e = fma(-x * y, y, 1.0);
  return fma(y * e, fma(e, 0.375, 0.5), y);
}
__device__ __forceinline__ double squared_norm(double x) { return x * x; }
__device__ __forceinline__ double squared_norm(Complex<double> x) {
  return fma(x.re, x.re, x.im * x.im);
}

/// Lane i has row i of the block, lane 16 + i row i of an identity below it, which the same
/// elimination makes row i of L^-H. Column by column.
/// @param pivot of lane k: element (k, k) before its root was taken. @param columns 16 * 16
/// elements, for broadcasting a column.
template <class D>
__device__ __forceinline__ void eliminate_singly(D (&a)[kSmall], double& pivot, D* columns,
                                                 int lane) {
  pivot = 1;
#pragma unroll
  for (int k = 0; k < kSmall; ++k) {
    const double d = from_lane(real(a[k]), k);
    if (lane == k) pivot = d;
    a[k] = scale(a[k], rsqrt(d));
    if (lane < kSmall) columns[kSmall * k + lane] = a[k];
    __syncwarp();
#pragma unroll
    for (int j = k + 1; j < kSmall; ++j)
      a[j] = subtract_product_conj(a[j], a[k], columns[kSmall * k + j]);
  }
}
/// The same by two columns at a time: the second pivot is the quotient of a determinant and the
/// first pivot, as accurate as the difference, so that both roots are computed in parallel; and the
/// next two columns are updated before all others, which are updated during the computation of
/// their roots. @param before of lane k: element (k, k) before its pair of columns was eliminated,
/// whose products with others must be in range.
template <class D>
__device__ __forceinline__ void eliminate(D (&a)[kSmall], double& pivot, double& before, D* columns,
                                          int lane) {
  double d1 = from_lane(real(a[0]), 0), d2 = from_lane(real(a[1]), 1);
  D beside = from_lane(a[0], 1);
  pivot = before = 1;
#pragma unroll
  for (int k = 0; k < kSmall; k += 2) {
    const double determinant = fma(d1, d2, -squared_norm(beside));
    const double y1 = inverse_root(d1), root = inverse_root(determinant);
    // Remaining updates of the previous pair, during the latency of the roots.
    if (k >= 2) {
#pragma unroll
      for (int j = k + 2; j < kSmall; ++j) {
        a[j] = subtract_product_conj(a[j], a[k - 2], columns[kSmall * (k - 2) + j]);
        a[j] = subtract_product_conj(a[j], a[k - 1], columns[kSmall * (k - 1) + j]);
      }
    }
    const double y2 = d1 * y1 * root;
    if (lane == k) pivot = before = d1;
    if (lane == k + 1) {
      pivot = determinant * (y1 * y1);
      before = d2;
    }
    if (k + 2 == kSmall) {
      a[k] = scale(a[k], y1);
      a[k + 1] = subtract_product_conj(a[k + 1], a[k], scale(beside, y1));
      a[k + 1] = scale(a[k + 1], y2);
      break;
    }
    // Rows k + 2 and k + 3 of the pair, computed by every lane: broadcasting them would take
    // longer.
    D third[2], fourth[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      third[i] = from_lane(a[k + i], k + 2);
      fourth[i] = from_lane(a[k + i], k + 3);
    }
    const D second = scale(beside, y1);
    third[0] = scale(third[0], y1);
    fourth[0] = scale(fourth[0], y1);
    third[1] = scale(subtract_product_conj(third[1], third[0], second), y2);
    fourth[1] = scale(subtract_product_conj(fourth[1], fourth[0], second), y2);
    a[k] = scale(a[k], y1);
    a[k + 1] = scale(subtract_product_conj(a[k + 1], a[k], second), y2);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      a[k + 2] = subtract_product_conj(a[k + 2], a[k + i], third[i]);
      a[k + 3] = subtract_product_conj(a[k + 3], a[k + i], fourth[i]);
    }
    d1 = from_lane(real(a[k + 2]), k + 2);
    beside = from_lane(a[k + 2], k + 3);
    d2 = from_lane(real(a[k + 3]), k + 3);
    if (lane < kSmall) {
      columns[kSmall * k + lane] = a[k];
      columns[kSmall * (k + 1) + lane] = a[k + 1];
    }
    __syncwarp();
  }
}

template <class D>
__device__ __forceinline__ void read_rows(D (&a)[kSmall], const D* block, int pitch, int lane) {
#pragma unroll
  for (int j = 0; j < kSmall; ++j) {
    const D value = block[j * pitch + (lane & 15)];
    a[j] = lane < kSmall ? value : from_real<D>(j == lane - kSmall ? 1.0 : 0.0);
  }
}
template <class D>
__device__ __noinline__ double eliminate_again(D (&a)[kSmall], const D* block, int pitch,
                                               D* columns, int lane) {
  double pivot;
  read_rows(a, block, pitch, lane);
  eliminate_singly(a, pivot, columns, lane);
  return pivot;
}

/// Factors `block`, replaces it by L^-1 and stores L in `factor`, another 16 x 16 block.
/// @return the first column whose pivot is not positive and finite, or -1.
template <class D>
__device__ __forceinline__ int factor_diagonal(D* block, int pitch, D* factor, D* columns,
                                               int lane) {
  D a[kSmall];
  double pivot, before;
  read_rows(a, block, pitch, lane);
  eliminate(a, pivot, before, columns, lane);
  const bool estimated = before >= kLeastPivot && before <= kLargestPivot;
  if (__ballot_sync(kFullWarp, is_pivot(before) && !estimated)) {
    D again[kSmall];
    pivot = eliminate_again(again, block, pitch, columns, lane);
#pragma unroll
    for (int j = 0; j < kSmall; ++j) a[j] = again[j];
  }
  const unsigned failed = __ballot_sync(kFullWarp, !is_pivot(pivot));
  if (lane < kSmall) {
#pragma unroll
    for (int k = 0; k < kSmall; ++k)
      factor[kSmall * k + lane] = k == lane ? from_real<D>(real(a[k])) : a[k];
  } else {
#pragma unroll
    for (int k = 0; k < kSmall; ++k) block[(lane - kSmall) * pitch + k] = conj(a[k]);
  }
  __syncwarp();
  return __ffs(failed) - 1;
}

}  // namespace chol::cuda::persistent
