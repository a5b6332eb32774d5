#include "tlr/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "api/precisions.h"

namespace chol::tlr {
namespace {

/// variance * 2^(1 - nu) / Gamma(nu) x^nu K_nu(x), x = sqrt(2 nu) r (Rasmussen, Williams 2006,
/// 4.14).
double matern(double nu, double r, double variance) {
  const double x = std::sqrt(2 * nu) * r;
  if (std::isnan(x)) return x;
  // K_nu overflows below, and is below any number of the range above.
  if (x < 1e-100) return variance;
  if (x > 705) return 0;
  const double bessel = std::cyl_bessel_k(nu, x);
  if (!(bessel <= std::numeric_limits<double>::max())) return variance;
  if (bessel == 0) return 0;
  const double logarithm = (1 - nu) * std::log(2.0) - std::lgamma(nu) + nu * std::log(x);
  return variance * std::min(1.0, std::exp(logarithm + std::log(bessel)));
}

constexpr int64_t kChunk = 256;

}  // namespace

CovarianceKernel::CovarianceKernel(const chol_kernel_t& kernel, int dim, int64_t n,
                                   const double* points, int64_t ldp)
    : kind_(kernel.kind),
      variance_(kernel.variance),
      nugget_(kernel.nugget),
      nu_(kernel.nu),
      dim_(dim),
      n_(n),
      coordinates_(static_cast<size_t>(dim) * static_cast<size_t>(n)) {
  for (int d = 0; d < dim; ++d) {
    const double length = kernel.length[kernel.lengths == 1 ? 0 : d];
    for (int64_t i = 0; i < n; ++i) coordinates_[d * n + i] = points[d + i * ldp] / length;
  }
}

template <class T>
void CovarianceKernel::evaluate(backend::TileOps<T>& ops, double* x, int64_t count) const {
  if (kind_ == CHOL_KERNEL_SQUARED_EXPONENTIAL) {
    for (int64_t i = 0; i < count; ++i) x[i] *= 0.5;
    return ops.decay(x, count, variance_);
  }
  if (kind_ == CHOL_KERNEL_EXPONENTIAL || nu_ == 0.5) {
    ops.scaled_root(x, count, 1);
    return ops.decay(x, count, variance_);
  }
  if (nu_ == 1.5 || nu_ == 2.5) {
    double r[kChunk];
    ops.scaled_root(x, count, std::sqrt(2 * nu_));
    std::copy_n(x, count, r);
    ops.decay(x, count, variance_);
    const double square = nu_ == 2.5 ? 1.0 / 3 : 0;
    for (int64_t i = 0; i < count; ++i)
      x[i] = x[i] == 0 ? 0 : x[i] * (1 + r[i] + square * r[i] * r[i]);
    return;
  }
  ops.scaled_root(x, count, 1);
  for (int64_t i = 0; i < count; ++i) x[i] = matern(nu_, x[i], variance_);
}

template <class T>
void CovarianceKernel::fill(backend::TileOps<T>& ops, int64_t row, int64_t column, int64_t rows,
                            int64_t columns, T* block, int64_t ldb) const {
  double x[kChunk];
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; i += kChunk) {
      const int64_t count = std::min(kChunk, rows - i);
      std::fill_n(x, count, 0.0);
      for (int d = 0; d < dim_; ++d) {
        const double* const line = coordinates_.data() + d * n_;
        ops.add_squared_distance(x, line + row + i, line[column + j], count);
      }
      evaluate(ops, x, count);
      const int64_t diagonal = column + j - (row + i);
      if (diagonal >= 0 && diagonal < count) x[diagonal] += nugget_;
      for (int64_t u = 0; u < count; ++u)
        block[i + u + j * ldb] = static_cast<T>(static_cast<RealOf<T>>(x[u]));
    }
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                     \
  template void CovarianceKernel::fill<T>(backend::TileOps<T>&, int64_t, int64_t, int64_t, \
                                          int64_t, T*, int64_t) const;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
