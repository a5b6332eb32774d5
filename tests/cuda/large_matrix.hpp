// One matrix too large to make, or to check, on the host: elements are worked out where they lie.
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

  /// Fills the named triangle with a positive definite matrix, all else with one other number.
  cudaError_t fill() const;
  /// How many elements of all else are another number now.
  cudaError_t count_changed(unsigned long long* changed) const;
  /// norm1(A x - L L^H x) / (n norm1(A) norm1(x) epsilon) of the factor that is there and a vector
  /// of random numbers.
  cudaError_t residual(double epsilon, double* ratio) const;
};

}  // namespace chol::test
