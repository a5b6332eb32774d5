// The tiles of a trailing update, and their order.
#pragma once

#include <cstdint>

#include "native/persistent/schedule.hpp"

namespace chol::cuda::update {

/// The tiles on and below the diagonal of a trapezoid, strip by strip of tile columns, each from
/// the diagonal down: concurrent tiles have few rows and columns, so that their operands stay in
/// the second-level cache.
struct Tiles {
  static constexpr int kStrip = 8;  ///< tile columns
  int rows, columns;                ///< tiles; columns <= rows

  struct Tile {
    int row, column;
  };
  CHOL_ANYWHERE static int width(int first, int columns) {
    return columns - first < kStrip ? columns - first : kStrip;
  }
  /// Tiles of the strip from column `first` on.
  CHOL_ANYWHERE int64_t tiles_of(int first) const {
    const int64_t w = width(first, columns);
    return w * (w + 1) / 2 + w * (rows - first - w);
  }
  CHOL_ANYWHERE int64_t total() const {
    int64_t count = 0;
    for (int first = 0; first < columns; first += kStrip) count += tiles_of(first);
    return count;
  }
  CHOL_ANYWHERE Tile at(int64_t index) const {
    int first = 0;
    for (; first + kStrip < columns && index >= tiles_of(first); first += kStrip)
      index -= tiles_of(first);
    const int w = width(first, columns);
    int row = 0;
    for (; row < w; ++row) {
      if (index <= row) return {first + row, first + static_cast<int>(index)};
      index -= row + 1;
    }
    const int below = static_cast<int>(index);
    return {first + w + below / w, first + below % w};
  }
};

/// All tiles of a rectangle in the same order.
struct RectangleTiles {
  static constexpr int kStrip = Tiles::kStrip;
  int rows, columns;  ///< tiles

  CHOL_ANYWHERE int64_t total() const { return int64_t(rows) * columns; }
  CHOL_ANYWHERE Tiles::Tile at(int64_t index) const {
    const int64_t strip = index / (int64_t(kStrip) * rows);
    const int first = static_cast<int>(strip) * kStrip, w = Tiles::width(first, columns);
    const int rest = static_cast<int>(index - strip * kStrip * rows);
    return {rest / w, first + rest % w};
  }
};

}  // namespace chol::cuda::update
