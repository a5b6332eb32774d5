// Coprime moduli of at most 256 for products of integers by their residues (Ozaki scheme II: Ozaki,
// Uchino, Imamura, 2025), and the constants of the conversions.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace chol::cuda::residues {

/// Of an integer x with |x| < 2^62: its bytes d_k in [-128, 127] give x = sum d_k 256^k, so that
/// x mod p is a short product with the residues of the powers of 256.
/// `count` of kCount entries are used.
template <int kCount>
struct ToResidues {
  int count;
  int modulus[kCount];
  int powers_low[kCount];   ///< residues of 256^0 ... 256^3, a byte each
  int powers_high[kCount];  ///< of 256^4 ... 256^7
  float reciprocal[kCount];
};

/// With P the product of the moduli, an integer |y| < P / 2 is P times the fraction
/// sum (y mod p_k) w_k / p_k - an integer, w_k the inverse of P / p_k modulo p_k. In units of
/// 2^-64 that sum wraps by itself.
template <int kCount>
struct FromResidues {
  int count;
  int modulus[kCount];
  int reciprocal[kCount];   ///< 2^32 / p, rounded
  int weight_low[kCount];   ///< the lower half of 2^64 w / p, rounded, as a signed number
  int weight_high[kCount];  ///< the rest of it over 2^32
  double unit;              ///< P / 2^64
};

template <int kCount>
struct Moduli {
  ToResidues<kCount> to;
  FromResidues<kCount> from;
  double half;       ///< P / 2
  double half_log2;  ///< its binary logarithm
};

constexpr int greatest_common_divisor(int a, int b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/// The largest ones that are coprime: 256, 255, 253, 251, ...
constexpr void choose_moduli(int* moduli, int count) {
  int found = 0;
  for (int candidate = 256; found < count; --candidate) {
    bool is_coprime = true;
    for (int k = 0; k < found; ++k)
      is_coprime = is_coprime && greatest_common_divisor(moduli[k], candidate) == 1;
    if (is_coprime) moduli[found++] = candidate;
  }
}

/// Four bytes: the residues of 256^first ... 256^(first + 3) of least magnitude.
constexpr int pack_powers(int modulus, int first) {
  int power = 1 % modulus;
  unsigned packed = 0;
  for (int k = 0; k < first + 4; ++k) {
    const int balanced = 2 * power > modulus ? power - modulus : power;
    if (k >= first) packed |= static_cast<unsigned>(balanced & 255) << (8 * (k - first));
    power = power * 256 % modulus;
  }
  return static_cast<int>(packed);
}

template <int kCount>
Moduli<kCount> make_moduli(int count) {
  using Wide = unsigned __int128;
  static_assert(kCount <= 15, "P would not fit in 128 bits, with two to spare");
  Moduli<kCount> all{};
  all.to.count = all.from.count = count;
  choose_moduli(all.to.modulus, count);
  Wide product = 1;
  for (int k = 0; k < count; ++k) product *= static_cast<unsigned>(all.to.modulus[k]);
  for (int k = 0; k < count; ++k) {
    const int modulus = all.to.modulus[k];
    all.to.powers_low[k] = pack_powers(modulus, 0);
    all.to.powers_high[k] = pack_powers(modulus, 4);
    all.to.reciprocal[k] = 1.0f / static_cast<float>(modulus);
    const int others = static_cast<int>(product / unsigned(modulus) % unsigned(modulus));
    int inverse = 1;
    while (inverse * others % modulus != 1) ++inverse;
    const auto weight = static_cast<uint64_t>(
        ((static_cast<Wide>(inverse) << 64) + unsigned(modulus) / 2) / unsigned(modulus));
    all.from.modulus[k] = modulus;
    all.from.reciprocal[k] = static_cast<int>(4294967296.0 / modulus + 0.5);
    all.from.weight_low[k] = static_cast<int>(static_cast<uint32_t>(weight));
    const auto low = static_cast<uint64_t>(static_cast<int64_t>(all.from.weight_low[k]));
    all.from.weight_high[k] = static_cast<int>(static_cast<uint32_t>((weight - low) >> 32));
  }
  const double rounded = std::ldexp(static_cast<double>(static_cast<uint64_t>(product >> 64)), 64) +
                         static_cast<double>(static_cast<uint64_t>(product));
  all.from.unit = std::ldexp(rounded, -64);
  all.half = rounded / 2;
  all.half_log2 = std::log2(all.half);
  return all;
}
/// The `count` largest of kCount at most.
template <int kCount>
const Moduli<kCount>& moduli(int count = kCount) {
  static const std::array<Moduli<kCount>, kCount + 1> all = [] {
    std::array<Moduli<kCount>, kCount + 1> made{};
    for (int of = 1; of <= kCount; ++of) made[static_cast<size_t>(of)] = make_moduli<kCount>(of);
    return made;
  }();
  return all[static_cast<size_t>(count)];
}

}  // namespace chol::cuda::residues
