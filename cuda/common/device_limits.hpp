// Properties of a device that decide which kernels it can run.
#pragma once

#include "common/launch.hpp"
#include "common/scalar.cuh"

namespace chol::cuda {

struct DeviceLimits {
  int64_t block_bytes = 0;         ///< shared memory that a block can have
  int64_t single_over_double = 0;  ///< rates of single and double precision

  /// Whether products of T are fastest by double precision tensor cores.
  template <class T>
  bool multiplies_by_tensor() const {
    return sizeof(Real<T>) == 8 || single_over_double <= 2;
  }
};

inline DeviceLimits current_device_limits() {
  return {block_shared_limit(), device_attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio)};
}

}  // namespace chol::cuda
