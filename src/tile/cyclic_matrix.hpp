// A matrix in a 1D block-cyclic distribution over several devices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/panel_ops.hpp"

namespace chol::tile {

using backend::View;

/// Distribution of n columns in blocks of nb.
struct Distribution {
  int64_t n = 0, nb = 1;
  int devices = 1;
  int64_t rows_below = 0;  ///< additional rows below a matrix that has fewer columns than rows

  int64_t blocks() const { return (n + nb - 1) / nb; }
  int64_t start(int64_t block) const { return block * nb; }
  int64_t width(int64_t block) const { return std::min(nb, n - block * nb); }
  int64_t end(int64_t block) const { return start(block) + width(block); }
  /// Number of rows of a block column from its diagonal block on, and without that block.
  int64_t rows_from(int64_t block) const { return n + rows_below - start(block); }
  int64_t rows_after(int64_t block) const { return n + rows_below - end(block); }
  int owner(int64_t block) const { return static_cast<int>(block % devices); }
  /// Index of the block's first column among the columns of its owner.
  int64_t local_start(int64_t block) const { return block / devices * nb; }
  /// First block from `block` on that the device owns.
  int64_t next_of(int device, int64_t block) const {
    const int64_t ahead = (device - block % devices + devices) % devices;
    return block + ahead;
  }
  int64_t columns_of(int device) const {
    int64_t columns = 0;
    for (int64_t k = device; k < blocks(); k += devices) columns += width(k);
    return columns;
  }
};

/// A lower triangle in block columns; or an upper one, which is a lower triangle in block rows.
template <class T>
struct CyclicMatrix {
  Distribution over;
  /// Whether devices store block rows of the lower triangle instead of block columns.
  bool by_rows = false;
  std::vector<View<T>> local;  ///< local part of each device

  /// The block that begins at element (i, j) of the lower triangle, in the memory of its owner.
  View<T> at(int64_t i, int64_t j) const {
    const int64_t position = by_rows ? i : j, block = position / over.nb;
    const int64_t here = over.local_start(block) + position % over.nb;
    const View<T>& on_owner = local[static_cast<size_t>(over.owner(block))];
    return by_rows ? on_owner.at(here, j) : on_owner.at(i, here);
  }
};

}  // namespace chol::tile
