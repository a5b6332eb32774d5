// The kernels of interleaved batches that are built, for each element type.
#pragma once

#include <type_traits>

#include "batched/shapes.hpp"
#include "interleaved/block_shape.hpp"

namespace chol::cuda {

/// shared.cuh: columns of a block column, most rows of it that a thread holds, matrices side by
/// side, most threads of a block and the least blocks a multiprocessor, which bound the registers.
template <int kColumnCount, int kRowCount, int kLaneCount, int kThreadCount, int kBlockCount>
struct InterleavedSharedShape {
  static constexpr int kColumns = kColumnCount, kRows = kRowCount, kLanes = kLaneCount;
  static constexpr int kMostThreads = kThreadCount, kBlocks = kBlockCount;
};

/// Matrices side by side fill kBytes: one, two or four sectors of a cache line.
template <class T, int kColumns, int kBytes>
using SharedShape = InterleavedSharedShape<kColumns, kSharedRows, kBytes / int(sizeof(T)), 256,
                                           sizeof(T) == 4 ? 2 : 1>;

template <class T>
struct InterleavedShapes {
  static constexpr int kColumns = sizeof(T) == 16 ? 4 : 8;
  using Solve = ShapeList<SharedShape<T, kColumns, 32>, SharedShape<T, kColumns, 64>,
                          SharedShape<T, kColumns, 128>>;
  using Factor = std::conditional_t<
      sizeof(T) == 16, Solve,
      ShapeList<SharedShape<T, 8, 32>, SharedShape<T, 8, 64>, SharedShape<T, 8, 128>,
                SharedShape<T, 4, 64>, SharedShape<T, 4, 128>>>;
};

}  // namespace chol::cuda
