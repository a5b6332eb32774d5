// A Hermitian matrix, or its factor, in tiles: dense on the diagonal, of low rank below it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/sweep_plan.hpp"
#include "base/buffer.hpp"
#include "base/scalar.hpp"

namespace chol::tlr {

/// A tile below the diagonal: U V^H, or a dense one, which is U with the identity for V.
template <class T>
struct Tile {
  bool dense = false;
  int64_t rank = 0;  ///< columns of U and V; not used when dense
  Buffer<T> U;       ///< rows by rank, or rows by columns
  Buffer<T> V;       ///< columns by rank
  /// Whether it was compressed on a basis of its samples, not from samples of both sides.
  bool projected = false;
};

enum class State : uint8_t { empty, assembled, factored, failed };

/// What belongs to a matrix beside its elements.
struct Properties {
  double eps = 0, shift = 0, flops = 0;
  double growth = 1;    ///< the whole error over that of a tile: see settings.hpp
  int64_t shorter = 0;  ///< the place of the tile that is last before pivoting
  int64_t compensated = 0, modified = 0;
};

template <class T>
class Matrix : public Properties {
 public:
  Matrix(int64_t order, int64_t tile_size)
      : n(order), tile(tile_size), tiles((order + tile_size - 1) / tile_size) {
    shorter = tiles - 1;
  }

  /// Rows of the tile that is the last one before pivoting.
  int64_t last_rows() const { return n - (tiles - 1) * tile; }
  int64_t rows(int64_t i) const { return i != shorter ? tile : last_rows(); }
  int64_t start(int64_t i) const { return i * tile - (i > shorter ? tile - last_rows() : 0); }
  Tile<T>& at(int64_t i, int64_t j) { return lower[i * (i - 1) / 2 + j]; }
  const Tile<T>& at(int64_t i, int64_t j) const { return lower[i * (i - 1) / 2 + j]; }
  /// Columns of what stands left of V in tile (i, j).
  int64_t width(int64_t i, int64_t j) const { return at(i, j).dense ? rows(j) : at(i, j).rank; }
  /// The inner dimension of the product that tile (i, j) is; a dense one of full rank.
  int64_t rank(int64_t i, int64_t j) const {
    return at(i, j).dense ? std::min(rows(i), rows(j)) : at(i, j).rank;
  }

  /// A factor L D L^H.
  bool is_ldl() const { return !signs.empty(); }

  /// diagonal(i) and then below(i, j, tile) for the tiles left of it, row after row.
  template <class Self, class Diagonal, class Below>
  static void for_each_tile(Self& A, Diagonal&& diagonal, Below&& below) {
    for (int64_t i = 0; i < A.tiles; ++i) {
      diagonal(i);
      for (int64_t j = 0; j < i; ++j) below(i, j, A.at(i, j));
    }
  }

  /// Before tiles change: what sweeps over them have left here.
  void forget_sweeps() {
    stage_inverses.clear();
    plans = {};
  }
  /// Gives back all tiles and makes room for new ones.
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
  std::vector<Tile<T>> lower;       ///< row after row
  std::vector<Buffer<T>> diagonal;  ///< of A whole, of a factor with zeros above the diagonal
  std::vector<Buffer<T>> inverses;  ///< of a factor: TileOps::invert_blocks() of the diagonal tiles
  /// Of a factor, once solves have asked for them: see stage_inverses().
  mutable std::vector<Buffer<T>> stage_inverses;
  mutable backend::SweepPlans plans;
  /// Of L D L^H: the elements of D, which are 1 and -1, for each tile; none where all are 1. Empty
  /// of other factors.
  std::vector<std::vector<RealOf<T>>> signs;
  /// Of a factor: which row of the matrix comes i-th; empty for the identity.
  std::vector<int64_t> permutation;
};

}  // namespace chol::tlr
