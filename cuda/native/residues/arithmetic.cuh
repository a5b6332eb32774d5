// Conversion of integers to residues and of residues to fractions. Also compiled for the host, for
// tests.
#pragma once

#include "native/residues/moduli.hpp"

namespace chol::cuda::residues {

/// The sum of the products of four signed bytes.
__host__ __device__ __forceinline__ int dot_bytes(int a, int b, int sum) {
#ifdef __CUDA_ARCH__
  return __dp4a(a, b, sum);
#else
  for (int k = 0; k < 4; ++k)
    sum += static_cast<int8_t>(a >> (8 * k)) * static_cast<int8_t>(b >> (8 * k));
  return sum;
#endif
}

__host__ __device__ __forceinline__ float fused_multiply_add(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

__host__ __device__ __forceinline__ int64_t round_to_integer(double x) {
#ifdef __CUDA_ARCH__
  return __double2ll_rn(x);  // the most negative integer of NaN
#else
  return x > -0x1p63 && x < 0x1p63 ? std::llrint(x) : INT64_MIN;
#endif
}

/// An integer as eight signed bytes.
struct SignedBytes {
  int low, high;

  __host__ __device__ __forceinline__ explicit SignedBytes(int64_t x) {
    constexpr uint64_t kHalves = 0x8080808080808080u;
    const uint64_t bytes = (static_cast<uint64_t>(x) + kHalves) ^ kHalves;
    low = static_cast<int>(static_cast<uint32_t>(bytes));
    high = static_cast<int>(static_cast<uint32_t>(bytes >> 32));
  }
};

/// The residue of least magnitude as a byte; -128 also represents 128, which is the same modulo
/// 256.
/// @tparam kLong false when the integer fits in 32 bits
template <bool kLong, int kCount>
__host__ __device__ __forceinline__ int residue(const ToResidues<kCount>& to, int k,
                                                SignedBytes x) {
  // At most 8 * 2^14 in magnitude, which a float has exactly.
  int sum = dot_bytes(x.low, to.powers_low[k], 0);
  if (kLong) sum = dot_bytes(x.high, to.powers_high[k], sum);
  // Adding 1.5 * 2^23 leaves the nearest integer in the low bits.
  constexpr float kRound = 12582912.0f;
  const float quotient = fused_multiply_add(static_cast<float>(sum), to.reciprocal[k], kRound);
  return sum - static_cast<int>(quotient - kRound) * to.modulus[k];
}

/// Accumulates 2^64 y / P from the residues of an integer y.
struct Fraction {
  int64_t low = 0;
  int high = 0;  ///< in units of 2^32

  /// @param sum congruent to y modulo the k-th modulus
  template <int kCount>
  __host__ __device__ __forceinline__ void add(const FromResidues<kCount>& from, int k, int sum) {
    const auto quotient =
        static_cast<int>((static_cast<int64_t>(sum) * from.reciprocal[k] + 0x80000000ll) >> 32);
    add_rest(from, k, sum - quotient * from.modulus[k]);
  }
  template <int kCount>
  __host__ __device__ __forceinline__ void add(const FromResidues<kCount>& from, int k,
                                               int8_t residue) {
    add_rest(from, k, residue);
  }
  /// @param rest between -p and p
  template <int kCount>
  __host__ __device__ __forceinline__ void add_rest(const FromResidues<kCount>& from, int k,
                                                    int rest) {
    low += static_cast<int64_t>(rest) * from.weight_low[k];
    high =
        static_cast<int>(static_cast<uint32_t>(high) +
                         static_cast<uint32_t>(rest) * static_cast<uint32_t>(from.weight_high[k]));
  }
  __host__ __device__ __forceinline__ int64_t value() const {
    const auto shifted = static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32;
    return static_cast<int64_t>(static_cast<uint64_t>(low) + shifted);
  }
};

}  // namespace chol::cuda::residues
