#include "tlr/iterate.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "api/precisions.h"
#include "tlr/apply.hpp"

namespace chol::tlr {
namespace {

/// x^H y, real for what it is used of; in double precision and in the order of the elements.
template <class T>
double inner(const T* x, const T* y, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (is_complex<T>)
      sum += double(x[i].real()) * double(y[i].real()) + double(x[i].imag()) * double(y[i].imag());
    else
      sum += double(x[i]) * double(y[i]);
  }
  return sum;
}

template <class T>
double norm(const T* x, int64_t n) {
  return std::sqrt(inner(x, x, n));
}

}  // namespace

template <class T>
Status norm_of_difference(backend::TileOps<T>& ops, int64_t n, const Apply<T>& original,
                          const Apply<T>& other, int iterations, double* norm2) {
  constexpr uint64_t kSeed = 5;
  Buffer<T> x(n), y(n), z(n);
  ops.random(x.get(), n, kSeed);
  double length = norm(x.get(), n);
  *norm2 = 0;
  for (int step = 0; step < iterations && length > 0; ++step) {
    for (int64_t i = 0; i < n; ++i) x.get()[i] *= static_cast<RealOf<T>>(1 / length);
    Status status = original(x.get(), y.get());
    if (status.ok()) status = other(x.get(), z.get());
    if (!status.ok()) return status;
    for (int64_t i = 0; i < n; ++i) x.get()[i] = y.get()[i] - z.get()[i];
    *norm2 = length = norm(x.get(), n);
    if (!(length <= 1e300)) break;
  }
  return Status::success();
}

template <class T>
void multiply_kernel(backend::TileOps<T>& ops, const CovarianceKernel& kernel, int64_t n,
                     const T* x, T* y) {
  constexpr int64_t kRows = 128, kColumns = 16;
  ops.for_each((n + kRows - 1) / kRows, [&](int64_t chunk) {
    const int64_t row = chunk * kRows, rows = std::min(kRows, n - row);
    T block[kRows * kColumns];
    std::fill_n(y + row, rows, T(0));
    for (int64_t j = 0; j < n; j += kColumns) {
      const int64_t columns = std::min(kColumns, n - j);
      kernel.fill(ops, row, j, rows, columns, block, kRows);
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t i = 0; i < rows; ++i) y[row + i] += block[i + c * kRows] * x[j + c];
    }
  });
}

template <class T>
Status conjugate_gradients(backend::TileOps<T>& ops, const Matrix<T>& A, const Matrix<T>& factor,
                           const T* b, T* x, double tolerance, int most, int* iterations,
                           double* residuals) {
  using R = RealOf<T>;
  const int64_t n = A.n;
  const double scale = norm(b, n);
  std::fill_n(x, n, T(0));
  if (residuals) std::fill_n(residuals, most + 1, 0.0);
  *iterations = 0;
  if (scale == 0) return Status::success();
  Buffer<T> r(n), z(n), p(n), q(n);
  std::copy_n(b, n, r.get());
  const auto precondition = [&] {
    std::copy_n(r.get(), n, z.get());
    return solve(ops, factor, 1, z.get(), n);
  };
  Status status = precondition();
  if (!status.ok()) return status;
  std::copy_n(z.get(), n, p.get());
  double product = inner(r.get(), z.get(), n);
  if (residuals) residuals[0] = 1;
  if (1 <= tolerance) return status;
  *iterations = -most;
  for (int step = 1; step <= most; ++step) {
    status = multiply(ops, A, 1, p.get(), n, q.get(), n);
    if (!status.ok()) return status;
    const double curvature = inner(p.get(), q.get(), n);
    if (!(curvature > 0)) return status;
    const R alpha = static_cast<R>(product / curvature);
    for (int64_t i = 0; i < n; ++i) {
      x[i] += alpha * p.get()[i];
      r.get()[i] -= alpha * q.get()[i];
    }
    const double residual = norm(r.get(), n) / scale;
    if (residuals) residuals[step] = residual;
    if (residual <= tolerance) {
      *iterations = step;
      return status;
    }
    status = precondition();
    if (!status.ok()) return status;
    const double next = inner(r.get(), z.get(), n);
    const R beta = static_cast<R>(next / product);
    for (int64_t i = 0; i < n; ++i) p.get()[i] = z.get()[i] + beta * p.get()[i];
    product = next;
  }
  return status;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                             \
  template Status norm_of_difference<T>(backend::TileOps<T>&, int64_t, const Apply<T>&,            \
                                        const Apply<T>&, int, double*);                            \
  template void multiply_kernel<T>(backend::TileOps<T>&, const CovarianceKernel&, int64_t,         \
                                   const T*, T*);                                                  \
  template Status conjugate_gradients<T>(backend::TileOps<T>&, const Matrix<T>&, const Matrix<T>&, \
                                         const T*, T*, double, int, int*, double*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
