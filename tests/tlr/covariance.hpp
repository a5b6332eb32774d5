// Covariances of points as dense and as tile low rank matrices, and the norm of their difference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "base/scalar.hpp"
#include "chol.h"
#include "support/handle.hpp"
#include "support/precisions.hpp"

namespace chol::test {

#define CHOL_EXPECT_SUCCESS(handle, call) \
  EXPECT_EQ(call, CHOL_STATUS_SUCCESS) << chol_last_error(handle)
#define CHOL_ASSERT_SUCCESS(handle, call) \
  ASSERT_EQ(call, CHOL_STATUS_SUCCESS) << chol_last_error(handle)

inline bool is_on_device() { return std::getenv("CHOL_TEST_DEVICE") != nullptr; }

inline chol_tlr_stats_t stats_of(chol_handle_t handle, chol_tlr_t M) {
  chol_tlr_stats_t stats{};
  stats.size = sizeof stats;
  CHOL_EXPECT_SUCCESS(handle, chol_tlr_stats(M, &stats));
  return stats;
}

/// A handle of the host, or of a device if CHOL_TEST_DEVICE is set.
class AnyHandle {
 public:
  AnyHandle() {
    const bool wants_device = is_on_device();
    if (wants_device && !is_here(CHOL_BACKEND_CUDA)) {
      std::printf("SKIPPED: %s\n", chol_last_error(nullptr));
      std::exit(0);
    }
    const chol_backend_t backend = wants_device ? CHOL_BACKEND_CUDA : CHOL_BACKEND_HOST;
    EXPECT_EQ(chol_create_on(&handle_, backend, 0, nullptr), CHOL_STATUS_SUCCESS)
        << chol_last_error(nullptr);
  }
  AnyHandle(const AnyHandle&) = delete;
  AnyHandle& operator=(const AnyHandle&) = delete;
  ~AnyHandle() { EXPECT_EQ(chol_destroy(handle_), CHOL_STATUS_SUCCESS); }
  operator chol_handle_t() const { return handle_; }

 private:
  chol_handle_t handle_ = nullptr;
};

/// A matrix that is freed at the end of its scope.
class Tlr {
 public:
  Tlr(chol_handle_t handle, chol_type_t type, int64_t n, int64_t tile) {
    CHOL_EXPECT_SUCCESS(handle, chol_tlr_create(handle, type, n, tile, &matrix_));
  }
  explicit Tlr(chol_tlr_t matrix) : matrix_(matrix) {}
  Tlr(const Tlr&) = delete;
  Tlr& operator=(const Tlr&) = delete;
  ~Tlr() { EXPECT_EQ(chol_tlr_destroy(matrix_), CHOL_STATUS_SUCCESS); }
  operator chol_tlr_t() const { return matrix_; }

 private:
  chol_tlr_t matrix_ = nullptr;
};

inline chol_tlr_options_t options_of(double eps) {
  chol_tlr_options_t options;
  EXPECT_EQ(chol_tlr_options_init(&options), CHOL_STATUS_SUCCESS);
  options.eps = eps;
  return options;
}

/// A covariance function that stores its length.
struct Covariance {
  chol_kernel_kind_t kind = CHOL_KERNEL_EXPONENTIAL;
  double nu = 0.5, length = 0.3, nugget = 0, variance = 1;

  chol_kernel_t kernel() const {
    return {sizeof(chol_kernel_t), kind, variance, nugget, nu, &length, 1};
  }
  double operator()(double distance) const {
    const double r = distance / length;
    if (kind == CHOL_KERNEL_EXPONENTIAL) return variance * std::exp(-r);
    if (kind == CHOL_KERNEL_SQUARED_EXPONENTIAL) return variance * std::exp(-r * r / 2);
    if (r == 0) return variance;
    const double x = std::sqrt(2 * nu) * r;
    return variance * std::pow(2, 1 - nu) / std::tgamma(nu) * std::pow(x, nu) *
           std::cyl_bessel_k(nu, x);
  }
};

struct Points {
  int dim;
  int64_t n;
  std::vector<double> x;
  const double* at(int64_t i) const { return x.data() + i * dim; }
};

/// Random points of the unit cube, in the order of chol_tlr_order_points().
inline Points ordered_points(int dim, int64_t n, int64_t tile, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  Points points{dim, n, std::vector<double>(static_cast<size_t>(dim * n))};
  for (double& x : points.x) x = uniform(random);
  std::vector<int64_t> order(static_cast<size_t>(n));
  EXPECT_EQ(chol_tlr_order_points(dim, n, points.x.data(), dim, tile, order.data()),
            CHOL_STATUS_SUCCESS);
  Points sorted = points;
  for (int64_t i = 0; i < n; ++i)
    for (int d = 0; d < dim; ++d) sorted.x[i * dim + d] = points.x[order[i] * dim + d];
  return sorted;
}

template <class T>
constexpr chol_type_t type_of() {
  return static_cast<chol_type_t>(precision_letter<T>);
}

/// The covariance; for complex types with a phase that depends on both points.
template <class T>
std::vector<T> dense_covariance(const Covariance& covariance, const Points& points) {
  const int64_t n = points.n;
  std::vector<T> A(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      double square = 0, phase = 0;
      for (int d = 0; d < points.dim; ++d) {
        const double step = points.at(i)[d] - points.at(j)[d];
        square += step * step;
        phase += 2 * step;
      }
      const double value = covariance(std::sqrt(square)) + (i == j ? covariance.nugget : 0);
      if constexpr (is_complex<T>)
        A[i + j * n] = static_cast<T>(std::polar(value, phase));
      else
        A[i + j * n] = static_cast<T>(value);
    }
  return A;
}

/// ||A - M||_2 by power iteration for a dense A.
template <class T>
double distance_to(chol_handle_t handle, const std::vector<T>& A, chol_tlr_t M, int64_t n,
                   int iterations = 20) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<size_t>(n)), y(x);
  for (T& element : x) element = static_cast<T>(normal(random));
  double norm = 0;
  for (int step = 0; step < iterations; ++step) {
    double square = 0;
    for (const T& element : x) square += std::norm(std::complex<double>(element));
    norm = std::sqrt(square);
    if (!(norm > 0)) break;
    for (T& element : x) element /= static_cast<RealOf<T>>(norm);
    EXPECT_EQ(chol_tlr_multiply(handle, M, 1, x.data(), n, y.data(), n), CHOL_STATUS_SUCCESS);
    std::vector<std::complex<double>> sum(static_cast<size_t>(n));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i)
        sum[i] += std::complex<double>(A[i + j * n]) * std::complex<double>(x[j]);
    square = 0;
    for (int64_t i = 0; i < n; ++i) {
      const std::complex<double> difference = sum[i] - std::complex<double>(y[i]);
      square += std::norm(difference);
      if constexpr (is_complex<T>)
        x[i] = static_cast<T>(difference);
      else
        x[i] = static_cast<T>(difference.real());
    }
    norm = std::sqrt(square);
  }
  return norm;
}

}  // namespace chol::test
