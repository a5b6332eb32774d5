// Whether a device multiplies at full rate in double precision.
#pragma once

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

/// Whether products of T are fastest by double precision tensor cores: not on devices whose single
/// precision rate is more than twice the double precision rate.
template <class T>
bool multiplies_by_tensor() {
  return sizeof(Real<T>) == 8 || device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2;
}

}  // namespace chol::cuda
