// For kernels that run in clusters and by blocks alone: of a block alone nothing of it is called.
#pragma once

namespace cooperative_groups {

struct Cluster {
  void sync() const {}
  template <class E>
  E* map_shared_rank(E* address, int) const {
    return address;
  }
};
inline Cluster this_cluster() { return {}; }

}  // namespace cooperative_groups
