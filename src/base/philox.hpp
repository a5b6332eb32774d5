// Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw 2011): random numbers by counter and key,
// so that a number depends on its position and the seed only.
#pragma once

#include <array>
#include <cstdint>

namespace chol {

using PhiloxBlock = std::array<uint32_t, 4>;

/// Four independent words of block `counter` of the stream `key`.
inline PhiloxBlock philox(uint64_t counter, uint64_t key) {
  PhiloxBlock c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0], b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

}  // namespace chol
