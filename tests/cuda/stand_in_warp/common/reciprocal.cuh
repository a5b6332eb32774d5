#pragma once

#include <cmath>

namespace chol::cuda {

template <class R>
bool has_estimate(R x) {
  return std::isnormal(x) && x > 0 && std::isnormal(1 / x);
}
/// As accurate as those of a device: subnormal numbers are treated as zero.
template <class R>
R estimate(R x, R error) {
  const R r = std::isnormal(x) ? (1 + error) / x : 1 / std::copysign(R(0), x);
  return std::fpclassify(r) == FP_SUBNORMAL ? std::copysign(R(0), r) : r;
}
inline float estimate_reciprocal(float x) { return estimate(x, 0.0f); }
inline double estimate_reciprocal(double x) { return estimate(x, 0x1p-20); }
inline double estimate_reciprocal_root(double x) {
  return std::isnormal(x) ? (1 + 0x1p-20) / std::sqrt(x) : 1 / std::copysign(0.0, x);
}

}  // namespace chol::cuda
