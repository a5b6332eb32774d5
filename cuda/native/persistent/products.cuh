// Sums of products of 16 x 16 blocks.
#pragma once

#include "native/persistent/block.cuh"

namespace chol::cuda::persistent {

/// A sum of products a b^H. @tparam conjugated whether a and b are stored conjugated.
template <int kParts, bool conjugated>
struct Products {
  using First = Block<1>;
  Block<1> sum;

  __device__ __forceinline__ void clear() { sum.clear(); }
  __device__ __forceinline__ static void prepare(First&) {}
  __device__ __forceinline__ void add(const First& a, Block<1>& b) {
    multiply(sum.x[0], a.x[0], b.x[0]);
  }
  __device__ __forceinline__ Block<1> value() const { return sum; }
};

/// Complex products take three real ones instead of four (Gauss): of a = a1 + i a2 and b = b1 + i
/// b2, a b^H = p + q + i (r - p + q) with p = a1 b1^T, q = a2 b2^T, r = (a1 + a2) (b1 - b2)^T.
/// The error of an element is bounded by |a| |b|^H as that of four products is, in absolute value,
/// but not for real and imaginary part separately (Higham, Accuracy and Stability of Numerical
/// Algorithms, section 23.2.4). Both storage orders sum the same numbers.
template <bool conjugated>
struct Products<2, conjugated> {
  using First = Block<3>;
  Block<3> sum;

  __device__ __forceinline__ void clear() { sum.clear(); }
  /// The sum of the parts of the first operand.
  __device__ __forceinline__ static void prepare(First& a) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        a.x[2][i][r] = conjugated ? a.x[0][i][r] - a.x[1][i][r] : a.x[0][i][r] + a.x[1][i][r];
  }
  /// Replaces the real part of b by the difference of its parts.
  __device__ __forceinline__ void add(const First& a, Block<2>& b) {
    multiply(sum.x[0], a.x[0], b.x[0]);
    multiply(sum.x[1], a.x[1], b.x[1]);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        b.x[0][i][r] = conjugated ? b.x[0][i][r] + b.x[1][i][r] : b.x[0][i][r] - b.x[1][i][r];
    multiply(sum.x[2], a.x[2], b.x[0]);
  }
  __device__ __forceinline__ Block<2> value() const {
    Block<2> total;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const double p = sum.x[0][i][r], q = sum.x[1][i][r];
        const double imaginary = (sum.x[2][i][r] - p) + q;
        total.x[0][i][r] = p + q;
        total.x[1][i][r] = conjugated ? -imaginary : imaginary;
      }
    return total;
  }
};

}  // namespace chol::cuda::persistent
