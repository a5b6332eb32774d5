#include "tlr/diagonal_tile.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "base/precisions.h"

namespace chol::tlr {

/// An upper bound by inverse iteration from a random vector, in practice within a small factor.
template <class T>
double DiagonalTile<T>::smallest_eigenvalue(const T* L, const T* inverses, int64_t n) {
  constexpr int kSteps = 4;
  if (vector_.count() < n) vector_ = ops_.buffer(n);
  T* const x = vector_.get();
  ops_.random(x, n, options_.seed + 1);
  const double norm = ops_.norm_of_inverse(L, inverses, n, x, kSteps);
  return norm <= 1e300 ? 1 / norm : 0;
}

template <class T>
int DiagonalTile<T>::try_factor(T* D, int64_t n, T* inverses) {
  const int info = ops_.potrf(D, n);
  if (info == 0) ops_.invert_blocks(D, n, inverses);
  return info;
}

template <class T>
bool DiagonalTile<T>::compensate(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T* const D = A.diagonal[k].get();
  ops_.copy(copy_.get(), n * n, D);
  ops_.add_to_diagonal(D, n, static_cast<RealOf<T>>(most_));
  if (try_factor(D, n, A.inverses[k].get()) != 0) return false;
  ++A.compensated;
  return true;
}

template <class T>
bool DiagonalTile<T>::modify(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T* const D = A.diagonal[k].get();
  Buffer<T> tile(n * n);
  ops_.transfer(n, n, copy_.get(), n, tile.get(), n);
  const T* const copy = tile.get();
  double largest = 0;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) largest = std::max(largest, double(std::abs(copy[i + j * n])));
  // A tile with NaN or Inf has nothing nearby.
  if (!std::all_of(copy, copy + n * n, [](const T& x) { return std::isfinite(std::abs(x)); }))
    return false;
  const double u = double(std::numeric_limits<RealOf<T>>::epsilon());
  double least = std::max(most_, std::sqrt(u) * largest);
  constexpr int kMostTries = 8;
  for (int trial = 0; trial < kMostTries; ++trial) {
    ops_.copy(copy_.get(), n * n, D);
    ops_.make_definite(D, n, static_cast<RealOf<T>>(least));
    if (try_factor(D, n, A.inverses[k].get()) == 0) {
      ++A.modified;
      return true;
    }
    least *= 10;
  }
  return false;
}

template <class T>
int DiagonalTile<T>::factor(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T* const D = A.diagonal[k].get();
  if (copy_.count() < n * n) copy_ = ops_.buffer(n * n);
  ops_.copy(D, n * n, copy_.get());
  A.inverses[k] = ops_.buffer(ops_.inverse_elements(n));
  const int info = try_factor(D, n, A.inverses[k].get());
  // Errors of the tiles of size E change the Schur complement of a tile with smallest eigenvalue w
  // by E^2 / w: one that is small against the errors is as good as indefinite.
  if (info == 0 &&
      (!options_.compensate || smallest_eigenvalue(D, A.inverses[k].get(), n) >= 2 * most_))
    return 0;
  if (options_.compensate && compensate(A, k)) return 0;
  if (options_.modify_diagonal && modify(A, k)) return 0;
  // Of a matrix that is indefinite by more than eps, info tells of the matrix itself.
  return std::max(info, 1);
}

#define CHOL_INSTANTIATE(prefix, T, R) template class DiagonalTile<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
