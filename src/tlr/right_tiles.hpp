// Tiles L_kj D_j of a row k of a factor: the right operands of L_ij D_j L_kj^H. Without D, or if
// D_j is the identity, they are the factor's own tiles.
#pragma once

#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// A tile in the memory of another tile.
template <class T>
struct TileView {
  bool dense;
  int64_t rank;
  const T *U, *V;
};

template <class T>
class RightTiles {
 public:
  /// Creates the tiles of row k in columns [from, to). A must not change while they are used.
  void make(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t k, int64_t from, int64_t to);
  const TileView<T>& at(int64_t j) const { return views_[j - from_]; }

 private:
  int64_t from_ = 0;
  std::vector<TileView<T>> views_;
  std::vector<Buffer<T>> memory_;
};

}  // namespace chol::tlr
