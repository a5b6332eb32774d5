// Descriptors of sweeps over the tiles below the diagonal of a matrix: see sweep.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "backend/tile_ops.hpp"

namespace chol::cuda::tlr {

/// U V^H, or U if the rank is -1.
struct SweepTile {
  const void *U, *V;
  int64_t rank;
};

/// The sums L_ij x_j, or the same for L^H. Positions number the block rows in the order of the
/// sweep: that of the matrix, reversed for L^H.
struct SweepCall {
  const SweepTile* tiles;          ///< below the diagonal, in row-major order
  const int* starts;               ///< first rows of the block rows, and the end of the last one
  const int *group_starts, *rows;  ///< positions of the block rows of each group, ascending
  const void* X;
  int64_t ldx;
  void* sums;             ///< for each share, n by kColumns, initially zero
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

/// Assignment of block rows to groups of blocks.
struct SweepGroups {
  std::vector<int> starts, rows;

  /// Longest rows first, each to the group with the least load.
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

/// Weight of each position of a sweep: the sum of the ranks of the tiles before its diagonal, plus
/// one per tile.
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
