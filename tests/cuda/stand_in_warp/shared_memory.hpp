// Dynamic shared memory of a block, for tests of kernels on the host.
#pragma once

#include <cstddef>
#include <cstring>

#include "warp.hpp"

namespace chol::cuda {

inline constexpr size_t kSharedBytes = 1 << 20;
alignas(128) inline unsigned char shared[kSharedBytes];

/// Fills it with NaN to detect reads of uninitialized memory. Blocks run one after the other, so
/// this write needs no ordering.
inline void spoil_shared_memory() {
  const Unseen unseen;
  std::memset(shared, 0xFF, kSharedBytes);
}

}  // namespace chol::cuda
