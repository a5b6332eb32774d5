// Division of eps into tolerances, such that ||A - L L^H||_2 <= eps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/tile_ops.hpp"
#include "base/status.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Shares of eps: for the errors of assembly and factorization, which are independent, so that
/// their squares add up, and for the amount that compensation may add to the diagonal.
inline constexpr double kAssemblyShare = 0.2;
inline constexpr double kFactorShare = 0.8;
inline constexpr double kCompensationShare = 0.25;

/// Ratio of the error of the whole matrix to that of a row of tiles if the errors of different
/// tiles are independent: 2 for a Wigner matrix (measured: 1.3 to 2), with a margin.
inline constexpr double kIndependentGrowth = 2;

/// Tolerance for one tile in the Frobenius norm such that the error of all tiles is at most share *
/// eps in the 2-norm (docs/tlr.md).
/// @param growth ratio of the error of the whole matrix to that of a tile
inline double tile_tolerance(double eps, double share, bool each_tile, double growth) {
  if (each_tile) return share < kFactorShare ? eps * share : eps;
  return eps * share / growth;
}

/// Limit for the amount that is added to the diagonal of a tile: if eps bounds each tile, the size
/// of the error of a row.
inline double compensation(const chol_tlr_options_t& options, int64_t tiles) {
  if (!options.each_tile) return options.eps * kCompensationShare;
  return options.eps * std::clamp(0.55 * std::sqrt(double(tiles)), 1.0, 4.0);
}

template <class T>
double largest_diagonal(backend::TileOps<T>& ops, const Matrix<T>& A) {
  double most = 0;
  std::vector<RealOf<T>> diagonal(static_cast<size_t>(A.tile));
  for (int64_t i = 0; i < A.tiles; ++i) {
    ops.read_diagonal(A.diagonal[i].get(), A.rows(i), diagonal.data());
    for (int64_t j = 0; j < A.rows(i); ++j) most = std::max(most, std::abs(double(diagonal[j])));
  }
  return most;
}

/// The smallest eps that is accepted, with room for rounding errors in units of max |a_ii|: n u for
/// dense arithmetic; with k tiles in a row, up to k roundings of each element of a tile, and tiles
/// with independent errors, n u sqrt(k) / 8 (docs/tlr.md).
template <class T>
double least_eps(const Matrix<T>& A, double largest_diagonal) {
  const double u = double(std::numeric_limits<RealOf<T>>::epsilon()) / 2;
  return double(A.n) * u * std::max(1.0, std::sqrt(double(A.tiles)) / 8) * largest_diagonal;
}

/// INVALID_VALUE for an eps below that.
template <class T>
Status check_eps(backend::TileOps<T>& ops, const Matrix<T>& A, double eps, const char* function) {
  const double least = least_eps(A, largest_diagonal(ops, A));
  if (!(eps < least)) return Status::success();
  return Status::error(
      CHOL_STATUS_INVALID_VALUE,
      "%s: options->eps = %g, must be at least n * u * max(1, sqrt(tiles) / 8) * max |a_ii| = %g",
      function, eps, least);
}

}  // namespace chol::tlr
