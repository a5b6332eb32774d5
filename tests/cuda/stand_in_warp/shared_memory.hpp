// What a block is allotted at its launch, for tests of kernels on the host.
#pragma once

#include <cstddef>
#include <cstring>

#include "warp.hpp"

namespace chol::cuda {

inline constexpr size_t kSharedBytes = 1 << 20;
alignas(128) inline unsigned char shared[kSharedBytes];

/// All of it becomes NaN, so that what was never written shows. A run comes after all before it:
/// the write need not be seen to be ordered.
inline void spoil_shared_memory() {
  const Unseen unseen;
  std::memset(shared, 0xFF, kSharedBytes);
}

}  // namespace chol::cuda
