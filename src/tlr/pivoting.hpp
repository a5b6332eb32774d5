// Pivoting between tiles: which diagonal tile comes next, and what its interchange moves.
#pragma once

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

template <class T>
class TilePivoting {
 public:
  TilePivoting(backend::TileOps<T>& ops, Matrix<T>& A, const chol_tlr_options_t& options);

  /// Moves the diagonal tile of the largest norm among those from k on to place k; the first one of
  /// equal norms. Diagonal tiles have all updates so far, in both triangles.
  void exchange_largest(int64_t k);
  /// Puts the rows of the tile at place k, its diagonal tile excepted, in `order`.
  void reorder_rows(int64_t k, const std::vector<int64_t>& order);
  /// The permutation that all this is.
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
  std::vector<int64_t> tile_order_;               ///< which tile comes k-th
  std::vector<std::vector<int64_t>> row_orders_;  ///< within the tile at a place, or empty
};

}  // namespace chol::tlr
