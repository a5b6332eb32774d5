// Reduction of 32-bit sums to residues of one byte, and the order in which a warp stores them. Also
// compiled for the host, for tests.
#pragma once

#include <cstdint>

namespace chol::cuda::residues {

/// A byte congruent to `sum`.
/// @param reciprocal 2^32 / modulus, rounded: the error of the quotient is at most a quarter
__host__ __device__ __forceinline__ int byte_of_sum(int sum, int modulus, int reciprocal) {
#ifdef __CUDA_ARCH__
  const int quotient = __mulhi(sum, reciprocal);
#else
  const int quotient = static_cast<int>((static_cast<int64_t>(sum) * reciprocal) >> 32);
#endif
  const int rest = sum - quotient * modulus;  // from -p / 4 to 5 p / 4
  return rest > 127 ? rest - modulus : rest;
}

/// Byte k of the result is the byte of (x, y) selected by digit k of `order`.
__host__ __device__ __forceinline__ uint32_t permute_bytes(uint32_t x, uint32_t y, uint32_t order) {
#ifdef __CUDA_ARCH__
  return __byte_perm(x, y, order);
#else
  const uint64_t both = x | static_cast<uint64_t>(y) << 32;
  uint32_t result = 0;
  for (int k = 0; k < 4; ++k)
    result |= static_cast<uint32_t>(both >> (8 * (order >> (4 * k) & 7)) & 255) << (8 * k);
  return result;
#endif
}

__host__ __device__ __forceinline__ uint32_t four_bytes(int a, int b, int c, int d) {
  constexpr uint32_t kLowBytes = 0x0040, kLowHalves = 0x5410;
  const uint32_t first =
      permute_bytes(static_cast<uint32_t>(a), static_cast<uint32_t>(b), kLowBytes);
  const uint32_t second =
      permute_bytes(static_cast<uint32_t>(c), static_cast<uint32_t>(d), kLowBytes);
  return permute_bytes(first, second, kLowHalves);
}

/// The four lanes of a quad have two adjacent bytes each of four groups of eight; lane q gets all
/// eight of group q.
struct QuadTranspose {
  static constexpr uint32_t kLowHalves = 0x5410, kHighHalves = 0x7632;
  int q;
  uint32_t own = 0;  ///< input of the second exchange

  /// @param pair groups 0, 1 and 2, 3, a half each @return the value for lane q ^ 2
  __host__ __device__ __forceinline__ uint32_t first_sent(const uint32_t (&pair)[2]) const {
    return q < 2 ? pair[1] : pair[0];
  }
  /// @return the value for lane q ^ 1
  __host__ __device__ __forceinline__ uint32_t second_sent(const uint32_t (&pair)[2],
                                                           uint32_t received) {
    const uint32_t first = q < 2 ? pair[0] : received, second = q < 2 ? received : pair[1];
    const uint32_t low = permute_bytes(first, second, kLowHalves);
    const uint32_t high = permute_bytes(first, second, kHighHalves);
    own = q & 1 ? high : low;
    return q & 1 ? low : high;
  }
  __host__ __device__ __forceinline__ void finish(uint32_t received, uint32_t (&eight)[2]) const {
    const uint32_t even = q & 1 ? received : own, odd = q & 1 ? own : received;
    eight[0] = permute_bytes(even, odd, kLowHalves);
    eight[1] = permute_bytes(even, odd, kHighHalves);
  }
};

}  // namespace chol::cuda::residues
