// The modified Bessel function of the second kind for Matern covariances of any order.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#define CHOL_HOST_DEVICE __host__ __device__
#else
#define CHOL_HOST_DEVICE
#endif

namespace chol::cuda::tlr {

/// log K_nu(x) for nu >= 0, x > 0: the integral of exp(-x cosh t) cosh(nu t) by the trapezoidal
/// rule, which converges exponentially since the integrand decays doubly so (Trefethen, Weideman
/// 2014). Its step follows the width of the integrand; relative error about 1e-14.
CHOL_HOST_DEVICE inline double log_bessel_k(double nu, double x) {
  // The maximum of nu t - x cosh t is at sinh t = nu / x.
  const double peak = asinh(nu / x), most = nu * peak - x * cosh(peak);
  const double width = 1 / sqrt(sqrt(nu * nu + x * x));
  const double step = fmin(0.2, 0.6 * width);
  double sum = 0.5 * exp(-x - most);
  for (int i = 1;; ++i) {
    const double t = i * step;
    const double exponent = nu * t - x * cosh(t) - most;
    sum += 0.5 * exp(exponent) * (1 + exp(-2 * nu * t));
    if (t > peak && exponent < -40) break;
  }
  return log(sum * step) + most;
}

/// variance * 2^(1 - nu) / Gamma(nu) x^nu K_nu(x) for x = sqrt(2 nu) r >= 0.
/// @param log_scale (1 - nu) log 2 - log Gamma(nu)
CHOL_HOST_DEVICE inline double matern(double nu, double x, double log_scale, double variance) {
  if (x != x) return x;
  if (x < 1e-100) return variance;
  if (x > 705) return 0;
  return variance * fmin(1.0, exp(log_scale + nu * log(x) + log_bessel_k(nu, x)));
}

}  // namespace chol::cuda::tlr
