// Sweeps over the tiles below the diagonal of a matrix, as the host describes them: see sweep.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backend/tile_ops.hpp"

namespace chol::cuda::tlr {

/// U V^H, or, of rank -1, U.
struct SweepTile {
  const void *U, *V;
  int64_t rank;
};

/// The sums L_ij x_j, or the same of L^H. Positions count the block rows in the order of the sweep,
/// which is that of the matrix, or of L^H the reverse.
struct SweepCall {
  const SweepTile* tiles;          ///< below the diagonal, row after row
  const int* starts;               ///< of the block rows, and the end of the last one
  const int *group_starts, *rows;  ///< positions of the block rows of each group, ascending
  const void* X;
  int64_t ldx;
  void* sums;             ///< of each share, n by kColumns, zero when the kernel begins
  int n, count, columns;  ///< block rows; columns of X
  int shares;
  bool adjoint;

#ifdef __CUDACC__
  __host__ __device__
#endif
      int
      index(int position) const {
    return adjoint ? count - 1 - position : position;
  }
};

/// Which groups of blocks have which block rows.
struct SweepGroups {
  std::vector<int> starts, rows;

  /// The longest rows first, each to the group that has least.
  /// @param weights of the positions
  SweepGroups(const std::vector<int64_t>& weights, int groups) {
    std::vector<int> order(weights.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return weights[a] > weights[b]; });
    std::vector<std::vector<int>> members(static_cast<size_t>(groups));
    std::vector<int64_t> loads(members.size());
    for (const int position : order) {
      const auto least = std::min_element(loads.begin(), loads.end());
      *least += weights[position] + 1;
      members[static_cast<size_t>(least - loads.begin())].push_back(position);
    }
    starts.push_back(0);
    for (std::vector<int>& of_group : members) {
      std::sort(of_group.begin(), of_group.end());
      rows.insert(rows.end(), of_group.begin(), of_group.end());
      starts.push_back(static_cast<int>(rows.size()));
    }
  }
};

/// Of the positions of a sweep: the ranks of the tiles before their diagonal, and one a tile.
template <class T>
std::vector<int64_t> sweep_weights(const backend::LowerTiles<T>& L, bool adjoint) {
  const auto count = static_cast<int64_t>(L.starts.size()) - 1;
  std::vector<int64_t> weights(static_cast<size_t>(count));
  const backend::LowRank<T>* tile = L.tiles.data();
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < i; ++j, ++tile) {
      const int64_t columns = L.starts[j + 1] - L.starts[j];
      const int64_t rank = tile->rank < 0 ? columns / 2 : tile->rank;
      weights[adjoint ? count - 1 - j : i] += rank + 4;
    }
  return weights;
}

}  // namespace chol::cuda::tlr
