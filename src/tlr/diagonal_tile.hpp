// The factor of a diagonal tile, and the modification of a tile that is not positive definite to
// eps.
#pragma once

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

template <class T>
class DiagonalTile {
 public:
  /// @param most limit for the amount that compensation adds to the diagonal
  DiagonalTile(backend::TileOps<T>& ops, const chol_tlr_options_t& options, double most)
      : ops_(ops), options_(options), most_(most) {}

  /// Starts the factorization of A's diagonal tile k in place, of which the lower triangle is read,
  /// and the inversion of its diagonal blocks: concurrently with other operations if these support
  /// it.
  void begin(Matrix<T>& A, int64_t k);
  /// Completes it. Returns info of potrf.
  int finish(Matrix<T>& A, int64_t k);

 private:
  static constexpr int kSteps = 4;  ///< number of inverse iterations
  /// Calls potrf and inverts the diagonal blocks. Returns info.
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
