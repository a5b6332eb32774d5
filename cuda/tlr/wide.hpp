// Descriptors of solves and products with many right-hand sides: see wide_products.cuh.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/tile_ops.hpp"

namespace chol::cuda::tlr {

/// A column of a tile's right factor, and the row of W for its product.
struct RightColumn {
  const void* elements;
  int64_t row;
};
/// A column of a tile's left factor, and the row that it is multiplied by: a row of W or, for a
/// dense tile, the bitwise complement of a row of x.
struct LeftColumn {
  const void* elements;
  int64_t row;
};
/// The columns of a tile in the two lists.
struct WideTileColumns {
  const void *left, *right;  ///< or nullptr
  int count, left_first, right_first;
  int row;  ///< of W, or of x if there is no right factor
};

/// Columns of right factors of one source: W := the product of their adjoint and x.
struct RightTask {
  int first, count, source;
};
/// Rows of a target, to which the left factors times rows of W, and rows of W themselves, are
/// added.
struct LeftTask {
  int target, row, first, end, first_identity, end_identity;
};
/// A part of such a sum, and its first row in the array of partial sums.
struct PartTask {
  LeftTask left;
  int to;
};

/// Arguments of the kernels. Sources and targets are block rows.
struct WideCall {
  const RightColumn* right;
  const LeftColumn* left;
  const int* identities;  ///< first rows of W that are added
  const int* starts;      ///< first rows of the block rows, and the end of the last one
  void* W;
  void* X;      ///< all columns of a call, in row-major order
  void* Y;      ///< sums, or right-hand sides minus sums, stored as X
  void* parts;  ///< partial sums, stored as X
  int part_count, part_rows;
  int64_t row_step, column_step;  ///< of Y
  int columns;                    ///< valid columns of Y
  bool adjoint, has_pairs;
  int tile;  ///< the largest order
};

/// The lists of a sweep. Positions number block rows in the order of the sweep.
template <class T>
class WideLists {
 public:
  std::vector<WideTileColumns> tiles;
  std::vector<int> identities;
  int left_columns = 0, right_columns = 0;
  int64_t rows_of_W = 0;
  int count;

  WideLists(const backend::LowerTiles<T>& L, bool adjoint)
      : count(static_cast<int>(L.starts.size()) - 1), adjoint_(adjoint) {
    const size_t all = L.tiles.size();
    for (int p = 0; p < count; ++p) {
      starts_.push_back(static_cast<int>(L.starts[index(p)]));
      rows_.push_back(static_cast<int>(L.starts[index(p) + 1]) - starts_.back());
    }
    tiles.resize(all);
    left_.resize(all + 1);
    identity_.resize(all + 1);
    right_.resize(all + 1);
    size_t t = 0;
    for (int target = 0; target < count; ++target)
      for (int source = 0; source < target; ++source, ++t) {
        const size_t a = static_cast<size_t>(index(adjoint ? source : target));
        add(L.tiles[a * (a - 1) / 2 + static_cast<size_t>(index(adjoint ? target : source))], t,
            target, source);
      }
    left_[all] = left_columns;
    identity_[all] = static_cast<int>(identities.size());
    complete();
  }
  int index(int position) const { return adjoint_ ? count - 1 - position : position; }
  int rows(int position) const { return rows_[position]; }
  /// First column of a tile in the list of left columns; with source == target, their end.
  int left(int target, int source) const { return left_[of_target(target, source)]; }
  int identity(int target, int source) const { return identity_[of_target(target, source)]; }
  /// The same for right columns; with target == count, their end.
  int right(int source, int target) const { return right_[of_source(source, target)]; }

  /// Adds tasks for sources [begin, end) and targets [from, to).
  void add_right(std::vector<RightTask>& tasks, int begin, int end, int from, int to,
                 int most) const {
    for (int source = begin; source < end; ++source) {
      const int first = std::max(from, source + 1);
      if (first >= to) continue;
      const int last = right(source, to);
      for (int c = right(source, first); c < last; c += most)
        tasks.push_back({c, std::min(most, last - c), index(source)});
    }
  }
  /// Adds sums over sources [begin, end) of targets [from, to), the longest first.
  void add_left(std::vector<LeftTask>& tasks, int begin, int end, int from, int to,
                int most) const {
    for (int target = to - 1; target >= from; --target) {
      const int last = std::min(end, target);
      const int first = left(target, begin), behind = left(target, last);
      const int first_identity = identity(target, begin), behind_identity = identity(target, last);
      if (first == behind && first_identity == behind_identity) continue;
      for (int row = 0; row < rows(target); row += most)
        tasks.push_back({index(target), row, first, behind, first_identity, behind_identity});
    }
  }
  /// Adds sums over sources [begin, end) of targets [from, to) in `parts` parts with about the same
  /// number of columns. Each part stores the rows of these targets in the order of the matrix.
  void add_parts(std::vector<PartTask>& tasks, int begin, int end, int from, int to, int parts,
                 int most) const {
    if (from == to) return;
    const int start = starts_[adjoint_ ? to - 1 : from];
    int all_rows = 0;
    for (int target = from; target < to; ++target) all_rows += rows(target);
    for (int part = 0; part < parts; ++part)
      for (int target = from; target < to; ++target) {
        const int first = left(target, begin), columns = left(target, end) - first;
        const auto begin_of = [&](int p) { return first + int(int64_t{columns} * p / parts); };
        const int first_identity = identity(target, begin);
        const int end_identity = part == 0 ? identity(target, end) : first_identity;
        for (int row = 0; row < rows(target); row += most)
          tasks.push_back({{index(target), row, begin_of(part), begin_of(part + 1), first_identity,
                            end_identity},
                           part * all_rows + starts_[target] - start + row});
      }
  }
  /// The largest number of columns of a sum over sources [0, end) of targets [from, to).
  int most_columns(int end, int from, int to) const {
    int most = 0;
    for (int target = from; target < to; ++target)
      most = std::max(most, left(target, end) - left(target, 0));
    return most;
  }

 private:
  size_t of_target(int target, int source) const {
    return static_cast<size_t>(target) * (target - 1) / 2 + source;
  }
  size_t of_source(int source, int target) const {
    return static_cast<size_t>(source) * (count - 1) -
           static_cast<size_t>(source) * (source - 1) / 2 +
           static_cast<size_t>(target - source - 1);
  }
  void add(const backend::LowRank<T>& tile, size_t t, int target, int source) {
    const bool dense = tile.rank < 0;
    const int columns = dense ? rows_[adjoint_ ? target : source] : static_cast<int>(tile.rank);
    const T* const left = !adjoint_ ? tile.U : dense ? nullptr : tile.V;
    const T* const right = adjoint_ ? tile.U : dense ? nullptr : tile.V;
    left_[t] = left_columns;
    identity_[t] = static_cast<int>(identities.size());
    right_[of_source(source, target)] = right ? columns : 0;
    tiles[t] = {left, right, columns, left_columns, 0, right ? left_columns : starts_[source]};
    if (left)
      left_columns += columns;
    else if (columns > 0)
      identities.push_back(static_cast<int>(t));
  }
  /// Computes what depends on all tiles.
  void complete() {
    for (int& first : right_) {
      const int columns = first;
      first = right_columns;
      right_columns += columns;
    }
    size_t t = 0;
    for (int target = 0; target < count; ++target)
      for (int source = 0; source < target; ++source, ++t)
        tiles[t].right_first = right_[of_source(source, target)];
    rows_of_W = left_columns;
    for (int& identity : identities) {
      WideTileColumns& tile = tiles[static_cast<size_t>(identity)];
      identity = tile.row = static_cast<int>(rows_of_W);
      rows_of_W += tile.count;
    }
  }

  bool adjoint_;
  std::vector<int> starts_, rows_, left_, identity_, right_;
};

}  // namespace chol::cuda::tlr
