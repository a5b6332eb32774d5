#include "tlr/iterate.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/precisions.h"
#include "tlr/apply.hpp"

namespace chol::tlr {
namespace {

template <class T>
double norm(backend::TileOps<T>& ops, const T* x, int64_t n) {
  return std::sqrt(ops.inner(x, x, n));
}

}  // namespace

template <class T>
double norm_of_difference(backend::TileOps<T>& ops, int64_t n, const Apply<T>& original,
                          const Apply<T>& other, int iterations) {
  constexpr uint64_t kSeed = 5;
  const Buffer<T> x = ops.buffer(n), y = ops.buffer(n), z = ops.buffer(n);
  ops.random(x.get(), n, kSeed);
  double estimate = 0, length = norm(ops, x.get(), n);
  for (int step = 0; step < iterations && length > 0; ++step) {
    ops.scale(x.get(), n, static_cast<RealOf<T>>(1 / length));
    original(x.get(), y.get());
    other(x.get(), z.get());
    ops.copy(y.get(), n, x.get());
    ops.combine(-1, z.get(), 1, x.get(), n);
    estimate = length = norm(ops, x.get(), n);
    if (!(length <= 1e300)) break;
  }
  return estimate;
}

template <class T>
int conjugate_gradients(backend::TileOps<T>& ops, const Matrix<T>& A, const Matrix<T>& factor,
                        const T* b, T* x, double tolerance, int most, double* residuals) {
  using R = RealOf<T>;
  const int64_t n = A.n;
  const double scale = norm(ops, b, n);
  ops.set_zero(x, n);
  if (residuals) std::fill_n(residuals, most + 1, 0.0);
  if (scale == 0) return 0;
  const Buffer<T> r = ops.buffer(n), z = ops.buffer(n), p = ops.buffer(n), q = ops.buffer(n);
  ops.copy(b, n, r.get());
  const auto precondition = [&] {
    ops.copy(r.get(), n, z.get());
    solve(ops, factor, 1, z.get(), n);
  };
  precondition();
  ops.copy(z.get(), n, p.get());
  double product = ops.inner(r.get(), z.get(), n);
  if (residuals) residuals[0] = 1;
  if (1 <= tolerance) return 0;
  for (int step = 1; step <= most; ++step) {
    multiply(ops, A, 1, p.get(), n, q.get(), n);
    const double curvature = ops.inner(p.get(), q.get(), n);
    if (!(curvature > 0)) return -most;
    const R alpha = static_cast<R>(product / curvature);
    ops.combine(alpha, p.get(), 1, x, n);
    ops.combine(-alpha, q.get(), 1, r.get(), n);
    const double residual = norm(ops, r.get(), n) / scale;
    if (residuals) residuals[step] = residual;
    if (residual <= tolerance) return step;
    precondition();
    const double next = ops.inner(r.get(), z.get(), n);
    const R beta = static_cast<R>(next / product);
    ops.combine(1, z.get(), beta, p.get(), n);
    product = next;
  }
  return -most;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                          \
  template double norm_of_difference<T>(backend::TileOps<T>&, int64_t, const Apply<T>&,         \
                                        const Apply<T>&, int);                                  \
  template int conjugate_gradients<T>(backend::TileOps<T>&, const Matrix<T>&, const Matrix<T>&, \
                                      const T*, T*, double, int, double*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
