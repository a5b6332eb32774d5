// The logarithm of a factor's diagonal element.
#pragma once

namespace chol::cuda {

/// NaN where x is not positive, 0 included.
template <class R>
__device__ __forceinline__ R log_of_positive(R x) {
  return x > 0 ? log(x) : R(nan(""));
}

}  // namespace chol::cuda
