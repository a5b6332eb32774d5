// Division by a pivot, which is on the critical path of a factorization.
#pragma once

#include <type_traits>

#include "common/reciprocal.cuh"
#include "common/scalar.cuh"

namespace chol::cuda {

/// x times the reciprocal of p, for p in the range of the hardware's estimate.
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

/// Scales p into the range of the estimate. @return the factor.
template <class R>
__device__ __forceinline__ R scale_towards_estimate(R& p) {
  constexpr R kUp = sizeof(R) == 4 ? R(0x1p40) : R(0x1p100);
  const R factor = p > R(1) ? R(1) / kUp : kUp;
  p *= factor;
  return factor;
}

/// x / p to an ulp or two, p positive: by the hardware's estimate, which is good for 20 bits of a
/// double, and a step of third order on the quotient. Pivots outside the range of the estimate are
/// scaled first, in a loop: the compiler does not move code across a loop, as it does across an if
/// at the cost of registers. @tparam kChecksFirst whether this is done before the division;
/// otherwise it is off the critical path. @tparam kLooksEarly whether p is tested in parallel with
/// its estimate, which takes registers.
template <bool kChecksFirst, bool kLooksEarly = !kChecksFirst, class T>
__device__ __forceinline__ T divide_by_pivot(T x, Real<T> p) {
  using R = Real<T>;
  T quotient;
  [[maybe_unused]] bool scales = false;
  if constexpr (kLooksEarly) scales = !has_estimate(p);
  if constexpr (!kChecksFirst) quotient = times_reciprocal(x, p);
#pragma unroll 1
  for (int tries = 0; kLooksEarly ? scales : tries < 2 && !has_estimate(p); ++tries) {
    const R factor = scale_towards_estimate(p);
    if constexpr (kChecksFirst)
      x = scale(x, factor);
    else
      quotient = scale(times_reciprocal(x, p), factor);
    if constexpr (kLooksEarly) scales = tries < 1 && !has_estimate(p);
  }
  if constexpr (kChecksFirst) quotient = times_reciprocal(x, p);
  return quotient;
}
/// The same of many elements of a T: each(operation) applies it to all of them. For types other
/// than double by the reciprocal root, twice, which needs no branch that would limit scheduling.
template <class T, class Each>
__device__ __forceinline__ void divide_each_by_pivot(Real<T> p, Each&& each) {
  if constexpr (std::is_same_v<T, double>) {
#pragma unroll 1
    for (int tries = 0; tries < 2 && !has_estimate(p); ++tries) {
      const double factor = scale_towards_estimate(p);
      each([&](double& x) { x *= factor; });
    }
    each([&](double& x) { x = times_reciprocal(x, p); });
  } else {
    const Real<T> inverse_root = reciprocal_sqrt(p);
    each([&](T& x) { x = scale(scale(x, inverse_root), inverse_root); });
  }
}

}  // namespace chol::cuda
