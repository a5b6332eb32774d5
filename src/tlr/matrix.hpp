// A Hermitian matrix or its factor in tiles: dense on the diagonal, of low rank below it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/sweep_plan.hpp"
#include "base/buffer.hpp"
#include "base/scalar.hpp"

namespace chol::tlr {

/// A tile below the diagonal: U V^H; or a dense tile, stored in U, with V the identity.
template <class T>
struct Tile {
  bool dense = false;
  int64_t rank = 0;  ///< number of columns of U and V; not used if dense
  Buffer<T> U;       ///< rows by rank, or rows by columns
  Buffer<T> V;       ///< columns by rank
  /// Whether it was compressed by projection on a basis of its samples, not from samples of both
  /// sides.
  bool projected = false;
};

enum class State : uint8_t { empty, assembled, factored, failed };

/// Properties of a matrix other than its elements.
struct Properties {
  double eps = 0, shift = 0, flops = 0;
  double growth = 1;    ///< ratio of the error of the matrix to that of a tile: see settings.hpp
  int64_t shorter = 0;  ///< position of the tile that is last before pivoting
  int64_t compensated = 0, modified = 0;
};

template <class T>
class Matrix : public Properties {
 public:
  Matrix(int64_t order, int64_t tile_size)
      : n(order), tile(tile_size), tiles((order + tile_size - 1) / tile_size) {
    shorter = tiles - 1;
  }

  /// Number of rows of the tile that is last before pivoting.
  int64_t last_rows() const { return n - (tiles - 1) * tile; }
  int64_t rows(int64_t i) const { return i != shorter ? tile : last_rows(); }
  int64_t start(int64_t i) const { return i * tile - (i > shorter ? tile - last_rows() : 0); }
  Tile<T>& at(int64_t i, int64_t j) { return lower[i * (i - 1) / 2 + j]; }
  const Tile<T>& at(int64_t i, int64_t j) const { return lower[i * (i - 1) / 2 + j]; }
  /// Number of columns of the operand left of V^H in tile (i, j).
  int64_t width(int64_t i, int64_t j) const { return at(i, j).dense ? rows(j) : at(i, j).rank; }
  /// Inner dimension of the product U V^H of tile (i, j); a dense tile has full rank.
  int64_t rank(int64_t i, int64_t j) const {
    return at(i, j).dense ? std::min(rows(i), rows(j)) : at(i, j).rank;
  }

  /// Whether this is a factor L D L^H.
  bool is_ldl() const { return !signs.empty(); }

  /// Calls diagonal(i) and then below(i, j, tile) for the tiles left of it, row by row.
  template <class Self, class Diagonal, class Below>
  static void for_each_tile(Self& A, Diagonal&& diagonal, Below&& below) {
    for (int64_t i = 0; i < A.tiles; ++i) {
      diagonal(i);
      for (int64_t j = 0; j < i; ++j) below(i, j, A.at(i, j));
    }
  }

  /// Discards the cached data of sweeps; called before tiles change.
  void forget_sweeps() {
    stage_inverses.clear();
    plans = {};
  }
  /// Frees all tiles and allocates memory for new ones.
  void clear() {
    const int64_t pairs = tiles * (tiles - 1) / 2;
    state = State::failed;
    lower.clear();
    diagonal.clear();
    inverses.clear();
    forget_sweeps();
    signs.clear();
    permutation.clear();
    shorter = tiles - 1;
    lower.resize(static_cast<size_t>(pairs));
    diagonal.resize(static_cast<size_t>(tiles));
    compensated = modified = 0;
    shift = flops = 0;
  }

  int64_t n, tile, tiles;
  State state = State::empty;
  std::vector<Tile<T>> lower;       ///< in row-major order
  std::vector<Buffer<T>> diagonal;  ///< of A full, of a factor with zeros above the diagonal
  std::vector<Buffer<T>> inverses;  ///< of a factor: TileOps::invert_blocks() of the diagonal tiles
  /// Of a factor, created by the first solve: see stage_inverses().
  mutable std::vector<Buffer<T>> stage_inverses;
  mutable backend::SweepPlans plans;
  /// Of L D L^H: the diagonal of D, 1 or -1, for each tile; empty for a tile with D = I. Empty for
  /// other factors.
  std::vector<std::vector<RealOf<T>>> signs;
  /// Of a factor: permutation[i] is the row of the matrix at position i; empty for the identity.
  std::vector<int64_t> permutation;
};

}  // namespace chol::tlr
