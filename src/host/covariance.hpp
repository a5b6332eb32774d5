// Covariance functions of points on one thread, block by block.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/covariance.hpp"
#include "base/scalar.hpp"
#include "host/products.hpp"

namespace chol::host {

/// variance * 2^(1 - nu) / Gamma(nu) x^nu K_nu(x), x = sqrt(2 nu) r (Rasmussen, Williams 2006,
/// 4.14).
inline double matern(double nu, double r, double variance) {
  const double x = std::sqrt(2 * nu) * r;
  if (std::isnan(x)) return x;
  // K_nu overflows below this range and underflows above it.
  if (x < 1e-100) return variance;
  if (x > 705) return 0;
  const double bessel = std::cyl_bessel_k(nu, x);
  if (!(bessel <= std::numeric_limits<double>::max())) return variance;
  if (bessel == 0) return 0;
  const double logarithm = (1 - nu) * std::log(2.0) - std::lgamma(nu) + nu * std::log(x);
  return variance * std::min(1.0, std::exp(logarithm + std::log(bessel)));
}

class CovarianceEvaluation {
 public:
  CovarianceEvaluation(const Products& table, const backend::Covariance& covariance)
      : table_(table), covariance_(covariance) {}

  template <class T>
  void fill(const backend::Block<T>& block) const {
    double x[kChunk];
    for (int64_t j = 0; j < block.columns; ++j)
      for (int64_t i = 0; i < block.rows; i += kChunk) {
        const int64_t count = std::min(kChunk, block.rows - i);
        std::fill_n(x, count, 0.0);
        for (int d = 0; d < covariance_.dim; ++d) {
          const double* const line = covariance_.coordinates + d * covariance_.n;
          table_.add_squared_distance(x, line + block.row + i, line[block.column + j], count);
        }
        evaluate(x, count);
        const int64_t diagonal = block.column + j - (block.row + i);
        if (diagonal >= 0 && diagonal < count) x[diagonal] += covariance_.nugget;
        for (int64_t u = 0; u < count; ++u)
          block.elements[i + u + j * block.ld] = static_cast<T>(static_cast<RealOf<T>>(x[u]));
      }
  }

 private:
  static constexpr int64_t kChunk = 256;

  void evaluate(double* x, int64_t count) const {
    const double nu = covariance_.nu, variance = covariance_.variance;
    const chol_kernel_kind_t kind = covariance_.kind;
    if (kind == CHOL_KERNEL_SQUARED_EXPONENTIAL) {
      for (int64_t i = 0; i < count; ++i) x[i] *= 0.5;
      return table_.decay(x, count, variance);
    }
    if (kind == CHOL_KERNEL_EXPONENTIAL || nu == 0.5) {
      table_.scaled_root(x, count, 1);
      return table_.decay(x, count, variance);
    }
    if (nu == 1.5 || nu == 2.5) {
      double r[kChunk];
      table_.scaled_root(x, count, std::sqrt(2 * nu));
      std::copy_n(x, count, r);
      table_.decay(x, count, variance);
      const double square = nu == 2.5 ? 1.0 / 3 : 0;
      for (int64_t i = 0; i < count; ++i)
        x[i] = x[i] == 0 ? 0 : x[i] * (1 + r[i] + square * r[i] * r[i]);
      return;
    }
    table_.scaled_root(x, count, 1);
    for (int64_t i = 0; i < count; ++i) x[i] = matern(nu, x[i], variance);
  }

  const Products& table_;
  const backend::Covariance& covariance_;
};

}  // namespace chol::host
