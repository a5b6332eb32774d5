// Higham's estimator of norm1(inverse(A)) for Hermitian A (Higham 1988, ACM TOMS 14, algorithm 4.1,
// as in LAPACK's lacn2): a few solves with A, without an inverse.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "base/arena.hpp"
#include "base/scalar.hpp"

namespace chol::host {

template <class T>
class ConditionEstimate {
 public:
  using R = RealOf<T>;
  ConditionEstimate(int64_t n, Arena& arena)
      : n_(n), x_(arena.take<T>(n)), sign_(arena.take<T>(n)) {}

  /// @param solve replaces x by inverse(A) x; since A is Hermitian, also used for the adjoint.
  template <class Solve>
  R inverse_norm(Solve&& solve) {
    for (int64_t i = 0; i < n_; ++i) {
      x_[i] = T(R(1) / static_cast<R>(n_));
      sign_[i] = T(0);
    }
    solve(x_);
    R estimate = norm1();
    if (n_ == 1) return estimate;
    take_signs();
    for (int64_t i = 0; i < n_; ++i) x_[i] = sign_[i];
    solve(x_);
    int64_t peak = largest();
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      for (int64_t i = 0; i < n_; ++i) x_[i] = T(i == peak);
      solve(x_);
      const R previous = estimate;
      estimate = std::fmax(estimate, norm1());
      const bool repeated = !take_signs();
      if (repeated || !(estimate > previous)) break;
      for (int64_t i = 0; i < n_; ++i) x_[i] = sign_[i];
      solve(x_);
      const int64_t last_peak = peak;
      peak = largest();
      if (std::abs(x_[last_peak]) == std::abs(x_[peak])) break;
    }
    return std::fmax(estimate, alternating(solve));
  }

 private:
  static constexpr int kMostIterations = 5;

  R norm1() const {
    R sum = 0;
    for (int64_t i = 0; i < n_; ++i) sum += std::abs(x_[i]);
    return sum;
  }
  int64_t largest() const {
    int64_t at = 0;
    for (int64_t i = 1; i < n_; ++i)
      if (std::abs(x_[i]) > std::abs(x_[at])) at = i;
    return at;
  }
  /// Sets sign_ to the signs of x (complex: x / |x|). Returns whether those of a real vector
  /// changed.
  bool take_signs() {
    bool changed = is_complex<T>;
    for (int64_t i = 0; i < n_; ++i) {
      const R size = std::abs(x_[i]);
      const T sign = size > 0 ? x_[i] / size : T(1);
      changed = changed || sign != sign_[i];
      sign_[i] = sign;
    }
    return changed;
  }
  /// A vector of increasing size and alternating sign detects matrices for which the iteration
  /// fails.
  template <class Solve>
  R alternating(Solve&& solve) {
    for (int64_t i = 0; i < n_; ++i) {
      const R size = R(1) + static_cast<R>(i) / static_cast<R>(n_ - 1);
      x_[i] = T(i % 2 ? -size : size);
    }
    solve(x_);
    return 2 * norm1() / (3 * static_cast<R>(n_));
  }

  int64_t n_;
  T* x_;
  T* sign_;
};

}  // namespace chol::host
