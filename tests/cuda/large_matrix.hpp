// One matrix too large to be generated or checked on the host: elements are computed on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace chol::test {

/// An array in device memory of n columns, ld elements apart, of one real number or a real and an
/// imaginary part each.
template <class R>
struct LargeMatrix {
  R* a;
  int parts;
  int64_t n, ld;
  bool upper;

  /// Fills the named triangle with a positive definite matrix, and the rest with a constant.
  cudaError_t fill() const;
  /// Number of elements outside the triangle that have changed.
  cudaError_t count_changed(unsigned long long* changed) const;
  /// norm1(A x - L L^H x) / (n norm1(A) norm1(x) epsilon) for the factor in memory and a random
  /// vector.
  cudaError_t residual(double epsilon, double* ratio) const;
};

}  // namespace chol::test
