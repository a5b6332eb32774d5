#include "tlr/diagonal_tile.hpp"

#include <algorithm>
#include <cmath>

#include "api/precisions.h"

namespace chol::tlr {
namespace {

template <class T>
double norm(const T* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::norm(std::complex<double>(x[i]));
  return std::sqrt(sum);
}

}  // namespace

template <class T>
void DiagonalTile<T>::add_to_diagonal(T* D, int64_t n, double shift) const {
  for (int64_t i = 0; i < n; ++i) D[i + i * n] += static_cast<RealOf<T>>(shift);
}

/// An upper bound by inverse iteration from a random vector, in practice within a small factor.
template <class T>
double DiagonalTile<T>::smallest_eigenvalue(const T* L, const T* inverses, int64_t n) {
  constexpr int kSteps = 4;
  vector_.reserve(n);
  T* const x = vector_.get();
  ops_.random(x, n, options_.seed + 1);
  double smallest = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double before = norm(x, n);
    for (int64_t i = 0; i < n; ++i) x[i] *= static_cast<RealOf<T>>(1 / before);
    for (const bool adjoint : {false, true}) ops_.solve({{L, inverses, n, adjoint, x, 1, n}});
    const double after = norm(x, n);
    if (!(after <= 1e300)) return 0;
    smallest = 1 / after;
  }
  return smallest;
}

template <class T>
int DiagonalTile<T>::factor(Matrix<T>& A, int64_t k) {
  const int64_t n = A.rows(k);
  T* const D = A.diagonal[k].get();
  copy_.reserve(n * n);
  std::copy_n(D, n * n, copy_.get());
  A.inverses[k] = Buffer<T>(ops_.inverse_elements(n));
  int info = ops_.potrf(D, n);
  if (info == 0) ops_.invert_blocks(D, n, A.inverses[k].get());
  if (!options_.compensate) return info;
  // Errors of the tiles of size E change the Schur complement of a tile with smallest eigenvalue w
  // by E^2 / w: one that is small against the errors is as good as indefinite.
  if (info == 0 && smallest_eigenvalue(D, A.inverses[k].get(), n) >= 2 * most_) return 0;
  std::copy_n(copy_.get(), n * n, D);
  add_to_diagonal(D, n, most_);
  // Of a matrix that is indefinite by more than eps, info tells of the matrix itself.
  if (ops_.potrf(D, n) != 0) return std::max(info, 1);
  ops_.invert_blocks(D, n, A.inverses[k].get());
  ++A.compensated;
  return 0;
}

#define CHOL_INSTANTIATE(prefix, T, R) template class DiagonalTile<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
