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

  /// Begins to overwrite A's diagonal tile k, of which the lower triangle is read, with its factor,
  /// and to make the inverted blocks of it: beside other operations where these can.
  void begin(Matrix<T>& A, int64_t k);
  /// Ends it. Returns info of potrf.
  int finish(Matrix<T>& A, int64_t k);

 private:
  static constexpr int kSteps = 4;  ///< of inverse iteration
  /// potrf and the inverted blocks; info.
  int try_factor(T* D, int64_t n, T* inverses);
  bool compensate(Matrix<T>& A, int64_t k);
  bool modify(Matrix<T>& A, int64_t k);
  /// A random vector of length n.
  T* start_vector(int64_t n);

  backend::TileOps<T>& ops_;
  const chol_tlr_options_t& options_;
  double most_;
  Buffer<T> copy_, vector_;
};

}  // namespace chol::tlr
