// How eps is divided: the rules behind ||A - L L^H||_2 <= eps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "backend/tile_ops.hpp"
#include "chol.h"
#include "tlr/matrix.hpp"

namespace chol::tlr {

/// Shares of eps: of the errors of assembly and factorization, which are independent, so that their
/// squares add up, and of what compensation may add to the diagonal.
inline constexpr double kAssemblyShare = 0.2;
inline constexpr double kFactorShare = 0.8;
inline constexpr double kCompensationShare = 0.25;

/// How many times the error of a row of tiles that of the whole matrix is, where errors of
/// different tiles are independent: 2 for a Wigner matrix (and 1.3 to 2 as measured), with a
/// margin.
inline constexpr double kIndependentGrowth = 2;

/// The tolerance in the Frobenius norm of one tile, so that the tiles' errors together are at most
/// share * eps in the 2-norm (docs/tlr.md).
/// @param growth how many times the error of a tile that of the whole matrix is
inline double tile_tolerance(double eps, double share, bool each_tile, double growth) {
  if (each_tile) return share < kFactorShare ? eps * share : eps;
  return eps * share / growth;
}

/// What may be added to the diagonal of a tile: where eps bounds each tile, as much as the errors
/// of a row come to.
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

/// The least eps that is accepted for order n: at 1.3 n u max |a_ii| the error of a covariance
/// matrix of 131,072 points in single precision was 1.2 eps, at twice that 0.5 eps.
template <class T>
double least_eps(int64_t n, double largest_diagonal) {
  return double(n) * double(std::numeric_limits<RealOf<T>>::epsilon()) * largest_diagonal;
}

}  // namespace chol::tlr
