#pragma once

#include <cmath>

namespace chol::cuda {

template <class R>
bool has_estimate(R x) {
  return std::isnormal(x) && x > 0 && std::isnormal(1 / x);
}
inline float estimate_reciprocal(float x) { return 1 / x; }
/// As good as that of a device, and no better.
inline double estimate_reciprocal(double x) { return (1 + 0x1p-20) / x; }

}  // namespace chol::cuda
