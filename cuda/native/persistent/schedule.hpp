// The order of the tasks of one matrix, divided into square tiles.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define CHOL_ANYWHERE __host__ __device__
#else
#define CHOL_ANYWHERE
#endif

namespace chol::cuda::persistent {

/// The task of a group of warps for tile (row, column), after the update by the `depth` tile
/// columns to its left.
struct Task {
  enum Kind : int {
    solve,  ///< finish it: a tile of the factor
    below,  ///< pass it to the chain: the tile below diagonal tile `column`
    square  ///< pass it to the chain: diagonal tile `row`, for the step before its own
  };
  int kind, row, column, depth;
};

/// Tasks in the order in which they are taken. One block, the chain, factors diagonal tile c and
/// the tile (c + 1, c) below it, step c of as many as there are tile columns; tasks do the others,
/// tile column by tile column.
///
/// A task of column g depends only on tasks of earlier columns and on steps of the chain up to g;
/// step c depends on tasks of columns before c. Running blocks take tasks in this order, so the
/// first unfinished task waits at most for the chain, and the chain for no unfinished task:
/// progress is guaranteed with the chain and one more running block.
struct Schedule {
  int rows, columns;  ///< tiles; columns <= rows

  /// Whether the chain needs the two tiles of step g + 1 from column g.
  CHOL_ANYWHERE bool prepares(int g) const { return g + 1 < columns && g + 2 < rows; }
  CHOL_ANYWHERE int tasks_of(int g) const {
    const int solved = rows - g - 2;
    return (solved > 0 ? solved : 0) + (prepares(g) ? 2 : 0);
  }
  /// The `at`th task of column g: those for the chain first.
  CHOL_ANYWHERE Task task(int g, int at) const {
    if (at == 0) return {Task::solve, g + 2, g, g};
    if (prepares(g)) {
      if (at == 1) return {Task::below, g + 2, g + 1, g};
      if (at == 2) return {Task::square, g + 2, g + 2, g};
      at -= 2;
    }
    return {Task::solve, g + 2 + at, g, g};
  }
  CHOL_ANYWHERE int64_t total() const {
    int64_t count = 0;
    for (int g = 0; g < columns; ++g) count += tasks_of(g);
    return count;
  }
};

/// Flags of a call, in separate cache lines: two for all blocks, one a tile row, three a tile
/// column.
inline constexpr int kFlagsApart = 32;
constexpr int64_t flag_ints(int64_t rows, int64_t columns) {
  return kFlagsApart * (2 + rows + 3 * columns);
}

}  // namespace chol::cuda::persistent
