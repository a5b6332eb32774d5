// A diagonal block of 16 columns and its inverse, by one warp.
#pragma once

#include "native/persistent/block.cuh"

namespace chol::cuda::persistent {

/// Pivots whose reciprocal root the hardware's estimate and one step of third order bring to an
/// ulp.
inline constexpr double kLeastPivot = 0x1p-1000, kLargestPivot = 0x1p1000;

template <bool kAnyPivot>
__device__ __forceinline__ double inverse_root(double x) {
  if constexpr (kAnyPivot) {
    return rsqrt(x);
  } else {
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x * y, y, 1.0);
    return fma(y * e, fma(e, 0.375, 0.5), y);
  }
}

/// Lane i has row i of the block, lane 16 + i row i of an identity below it, which the same
/// elimination makes row i of L^-H.
/// @param pivot of lane k: what element (k, k) was before its root was taken.
/// @param columns 16 * 16 elements, by which a column goes round.
template <bool kAnyPivot, class D>
__device__ __forceinline__ void eliminate(D (&a)[kSmall], double& pivot, D* columns, int lane) {
  double d = from_lane(real(a[0]), 0);
  D next = from_lane(a[0], 1);
  pivot = 1;
#pragma unroll
  for (int k = 0; k < kSmall; ++k) {
    const double y = inverse_root<kAnyPivot>(d);
    if (lane == k) pivot = d;
    const D l = scale(a[k], y);
    a[k] = l;
    if (k + 1 == kSmall) break;
    // The next pivot first: all else is done while its root is found.
    a[k + 1] = subtract_product_conj(a[k + 1], l, scale(next, y));
    d = from_lane(real(a[k + 1]), k + 1);
    if (k + 2 == kSmall) continue;
    next = from_lane(a[k + 1], k + 2);
    if (lane < kSmall) columns[kSmall * k + lane] = l;
    __syncwarp();
#pragma unroll
    for (int j = k + 2; j < kSmall; ++j)
      a[j] = subtract_product_conj(a[j], l, columns[kSmall * k + j]);
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
__device__ __noinline__ double eliminate_any(D (&a)[kSmall], const D* block, int pitch, D* columns,
                                             int lane) {
  double pivot;
  read_rows(a, block, pitch, lane);
  eliminate<true>(a, pivot, columns, lane);
  return pivot;
}

/// Factors `block`, puts L^-1 in its place and L into `factor`, a 16 x 16 block of its own.
/// @return the first column whose pivot is not positive and finite, or -1.
template <class D>
__device__ __forceinline__ int factor_diagonal(D* block, int pitch, D* factor, D* columns,
                                               int lane) {
  D a[kSmall];
  double pivot;
  read_rows(a, block, pitch, lane);
  eliminate<false>(a, pivot, columns, lane);
  const bool estimated = pivot >= kLeastPivot && pivot <= kLargestPivot;
  if (__ballot_sync(kFullWarp, is_pivot(pivot) && !estimated)) {
    D again[kSmall];
    pivot = eliminate_any(again, block, pitch, columns, lane);
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
