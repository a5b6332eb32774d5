// Division by a pivot, on which everything in a factorization waits.
#pragma once

#include "common/reciprocal.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// x / p to an ulp or two, p positive: by the hardware's estimate, which is good for 20 bits of a
/// double, and a step of third order on the quotient.
template <class T>
__device__ __forceinline__ T divide_by_pivot(T x, Real<T> p) {
  using R = Real<T>;
  // A loop is a branch, where an if became selections that every column waited for.
#pragma unroll 1
  for (int tries = 0; tries < 2 && !has_estimate(p); ++tries) {
    constexpr R kUp = sizeof(R) == 4 ? R(0x1p40) : R(0x1p100);
    const R factor = p > R(1) ? R(1) / kUp : kUp;
    p *= factor;
    x = scale(x, factor);
  }
  const R r = estimate_reciprocal(p);
  const T q = scale(x, r);
  if constexpr (sizeof(R) == 4) {
    return q;
  } else {
    const R e = fma(-p, r, R(1)), missing = fma(e, e, e);
    return add_scaled(q, q, missing);
  }
}

}  // namespace chol::cuda
