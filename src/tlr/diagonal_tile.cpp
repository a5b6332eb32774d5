#include "tlr/diagonal_tile.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
T* DiagonalTile<T>::start_vector(int64_t n) {
  if (vector_.count() < n) vector_ = ops_.buffer(n);
  ops_.random(vector_.get(), n, options_.seed + 1);
  return vector_.get();
}

template <class T>
int DiagonalTile<T>::try_factor(T* D, int64_t n, T* inverses) {
  const int info = ops_.potrf(D, n);
  if (info == 0) ops_.invert_blocks(D, n, inverses, false);
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
  // A tile with NaN or Inf has no nearby definite tile.
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
void DiagonalTile<T>::begin(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T* const D = A.diagonal[k].get();
  if (copy_.count() < n * n) copy_ = ops_.buffer(n * n);
  ops_.copy(D, n * n, copy_.get());
  A.inverses[k] = ops_.buffer(ops_.inverse_elements(n));
  if (ops_.factors_beside())
    ops_.begin_diagonal(D, n, A.inverses[k].get(), start_vector(n),
                        options_.compensate ? kSteps : 0);
}

template <class T>
int DiagonalTile<T>::finish(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T *const D = A.diagonal[k].get(), *const inverses = A.inverses[k].get();
  backend::DiagonalFactor found{};
  if (ops_.factors_beside()) {
    found = ops_.end_diagonal();
  } else {
    found.info = try_factor(D, n, inverses);
    if (found.info == 0 && options_.compensate)
      found.norm_of_inverse = ops_.norm_of_inverse(D, inverses, n, start_vector(n), kSteps);
  }
  // The smallest eigenvalue by inverse iteration: an upper bound, in practice within a small
  // factor. If the tiles have errors of size E and the smallest eigenvalue of a tile is w, the
  // Schur complement of the tile changes by E^2 / w. A tile whose w is small relative to E is
  // therefore treated as indefinite.
  const double norm = found.norm_of_inverse;
  const bool is_definite = norm <= 1e300 && 1 >= 2 * most_ * norm;
  if (found.info == 0 && (!options_.compensate || is_definite)) return 0;
  if (options_.compensate && compensate(A, k)) return 0;
  if (options_.modify_diagonal && modify(A, k)) return 0;
  // If the matrix is indefinite by more than eps, info refers to the matrix itself.
  return std::max(found.info, 1);
}

#define CHOL_INSTANTIATE(prefix, T, R) template class DiagonalTile<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
