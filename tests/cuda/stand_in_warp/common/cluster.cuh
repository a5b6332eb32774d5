#pragma once

#include "shared_memory.hpp"

namespace chol::cuda {

inline unsigned cluster_blocks() { return HostBlock::current->blocks(); }
inline unsigned cluster_rank() { return HostBlock::current->rank(); }
/// Shared memory is divided among the blocks of a cluster.
inline unsigned char* own_shared(unsigned char* shared) {
  return shared + kSharedBytes / cluster_blocks() * cluster_rank() / 128 * 128;
}
inline void meet_in_cluster() {
  HostBlock::current->meet(HostBlock::current->threads() * static_cast<int>(cluster_blocks()));
}

}  // namespace chol::cuda
