// Whether a device multiplies at full rate in double precision.
#pragma once

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

/// Whether products of T are best done by double precision tensor cores here: what multiplies
/// single precision at more than twice their rate is not a device for computing in double.
template <class T>
bool multiplies_by_tensor() {
  return sizeof(Real<T>) == 8 || device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) <= 2;
}

}  // namespace chol::cuda
