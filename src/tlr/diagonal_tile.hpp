// The factor of a diagonal tile, and what is done where eps leaves it no positive definite one.
#pragma once

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

template <class T>
class DiagonalTile {
 public:
  /// @param most what compensation may add to the diagonal
  DiagonalTile(backend::TileOps<T>& ops, const chol_tlr_options_t& options, double most)
      : ops_(ops), options_(options), most_(most) {}

  /// Overwrites A's diagonal tile k, of which the lower triangle is read, with its factor, and
  /// makes the inverted blocks of it. Returns info of potrf.
  int factor(Matrix<T>& A, int64_t k);

 private:
  /// potrf and the inverted blocks; info.
  int try_factor(T* D, int64_t n, T* inverses);
  bool compensate(Matrix<T>& A, int64_t k);
  bool modify(Matrix<T>& A, int64_t k);
  double smallest_eigenvalue(const T* L, const T* inverses, int64_t n);

  backend::TileOps<T>& ops_;
  const chol_tlr_options_t& options_;
  double most_;
  Buffer<T> copy_, vector_;
};

}  // namespace chol::tlr
