// The flags of a call, in device memory.
#pragma once

#include "native/persistent/schedule.hpp"

namespace chol::cuda::persistent {

/// The flags of a call, in separate cache lines.
struct Flags {
  static constexpr int kApart = kFlagsApart;
  int* first;
  int rows, columns;

  /// Number of blocks that have begun: the first one is the chain.
  __device__ int* started() const { return first; }
  __device__ int* next_task() const { return first + kApart; }
  /// Finished tiles of a tile row, each counted once by each warp of a group.
  __device__ int* finished(int row) const { return first + kApart * (2 + row); }
  /// Block columns of a diagonal tile that are published.
  __device__ int* published(int column) const { return first + kApart * (2 + rows + column); }
  /// Warps that have written their part of the input of a step of the chain.
  __device__ int* prepared(int column) const {
    return first + kApart * (2 + rows + columns + column);
  }
  /// The same for block column p, except the last, of the left tile of a step.
  __device__ int* left(int column, int p) const {
    return first + kApart * (2 + rows + 2 * columns + column) + p;
  }
};

}  // namespace chol::cuda::persistent
