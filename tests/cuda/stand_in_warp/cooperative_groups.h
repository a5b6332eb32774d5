// The blocks of a cluster, of which each has its shared memory `stride` bytes after the one before.
#pragma once

#include "warp.hpp"

namespace cooperative_groups {

struct Cluster {
  static inline size_t stride = 0;
  void sync() const {
    auto& blocks = *chol::cuda::HostBlock::current;
    blocks.meet(blocks.threads() * static_cast<int>(blocks.blocks()));
  }
  unsigned block_rank() const { return chol::cuda::HostBlock::current->rank(); }
  template <class E>
  E* map_shared_rank(E* address, int rank) const {
    return reinterpret_cast<E*>(reinterpret_cast<char*>(address) +
                                (rank - static_cast<int>(block_rank())) *
                                    static_cast<ptrdiff_t>(stride));
  }
};
inline Cluster this_cluster() { return {}; }

}  // namespace cooperative_groups
