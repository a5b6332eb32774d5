// Division by a pivot, on which everything in a factorization waits.
#pragma once

#include "common/reciprocal.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// x times the reciprocal of p, which has an estimate.
template <class T>
__device__ __forceinline__ T times_reciprocal(T x, Real<T> p) {
  using R = Real<T>;
  const R r = estimate_reciprocal(p);
  const T q = scale(x, r);
  if constexpr (sizeof(R) == 4) {
    return q;
  } else {
    const R e = fma(-p, r, R(1)), missing = fma(e, e, e);
    return add_scaled(q, q, missing);
  }
}

/// x / p to an ulp or two, p positive: by the hardware's estimate, which is good for 20 bits of a
/// double, and a step of third order on the quotient. What has no estimate has one when it is
/// scaled, which is written as a loop: code does not move past one, as it does past an if, with all
/// the registers that this takes.
/// @tparam kChecksFirst whether that is done before the division. Otherwise nobody waits for it.
template <bool kChecksFirst, class T>
__device__ __forceinline__ T divide_by_pivot(T x, Real<T> p) {
  using R = Real<T>;
  constexpr R kUp = sizeof(R) == 4 ? R(0x1p40) : R(0x1p100);
  T quotient;
  if constexpr (!kChecksFirst) quotient = times_reciprocal(x, p);
#pragma unroll 1
  for (int tries = 0; tries < 2 && !has_estimate(p); ++tries) {
    const R factor = p > R(1) ? R(1) / kUp : kUp;
    p *= factor;
    if constexpr (kChecksFirst)
      x = scale(x, factor);
    else
      quotient = scale(times_reciprocal(x, p), factor);
  }
  if constexpr (kChecksFirst) quotient = times_reciprocal(x, p);
  return quotient;
}

}  // namespace chol::cuda
