// Pivoting between tiles: the choice of the next diagonal tile and the interchange of tiles.
#pragma once

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

template <class T>
class TilePivoting {
 public:
  TilePivoting(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options);

  /// Interchanges the diagonal tile of the largest norm among those from k on with tile k; the
  /// first one of equal norms. Diagonal tiles have all updates so far, in both triangles.
  void exchange_largest(int64_t k);
  /// Permutes the rows of block row k, except its diagonal tile, by `order`.
  void reorder_rows(int64_t k, const std::vector<int64_t>& order);
  /// Returns the permutation that results from all interchanges.
  std::vector<int64_t> permutation() const;

 private:
  int64_t find_largest(int64_t k);
  /// Estimates of the 2-norm of the diagonal tiles from k on, by power iteration.
  std::vector<double> two_norms(int64_t k);
  void exchange(int64_t k, int64_t p);
  void rearrange_tile(Buffer<T>& block, backend::Rearrangement<T> how);

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  const chol_tlr_options_t& options_;
  std::vector<int64_t> tile_order_;               ///< original index of the tile at each position
  std::vector<std::vector<int64_t>> row_orders_;  ///< order of the rows within a tile, or empty
};

}  // namespace chol::tlr
