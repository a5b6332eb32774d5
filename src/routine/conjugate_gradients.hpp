// Conjugate gradients on several columns at once, each with its own coefficients, preconditioned by
// a factor in a lower precision (Hestenes and Stiefel 1952; with an inexact preconditioner and the
// formula of Polak and Ribiere: Golub and Ye 1999).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>

#include "backend/refinement.hpp"
#include "base/status_error.hpp"

namespace chol::routine {

/// Solves A X = B to the criterion of LAPACK's dsposv: |r| <= |x| criterion in the largest elements
/// of each column.
template <class T>
class ConjugateGradients {
 public:
  using Low = backend::LowerPrecision<T>;
  using Variable = backend::Columns<T>;
  using Constant = backend::Columns<const T>;

  static constexpr int kMostIterations = 30;  ///< as LAPACK's ITERMAX
  static constexpr int kGivenUp = kMostIterations + 1;

  /// As many columns each as solve() is given, of leading dimension n.
  struct Work {
    T *R, *P, *Z, *Q;
    Low* low;
  };
  /// Solves with the factor in place.
  using Precondition = std::function<void(const backend::Columns<Low>&)>;

  ConjugateGradients(backend::Refinement<T>& operations, const backend::Hermitian<const T>& A,
                     double criterion, const Work& work, Precondition precondition)
      : ops_(operations),
        A_(A),
        criterion_(criterion),
        work_(work),
        precondition_(std::move(precondition)) {}

  /// Returns the iterations after the first solution with the factor, or kGivenUp: no convergence,
  /// or A is not positive definite.
  int solve(const Constant& B, const Variable& X) {
    count_ = B.count;
    require(ops_.combine(kOnes.data(), B, kZeros.data(), variable(work_.R)));
    require(ops_.combine(kZeros.data(), B, kZeros.data(), X));
    measure({Measure::largest(constant(work_.R), largest_.data())});
    std::array<double, kGivenUp> excess{};
    bool is_restarted = true;
    for (int iteration = 0; iteration <= kMostIterations; ++iteration) {
      if (!advance(X, is_restarted)) return kGivenUp;
      is_restarted = false;
      excess[iteration] = excess_of(X);
      if (excess[iteration] <= 1) {
        // The residual of the recursion is verified; if it differs, the iteration restarts from the
        // true one.
        compute_residual(B, X);
        excess[iteration] = excess_of(X);
        if (excess[iteration] <= 1) return iteration;
        is_restarted = true;
      }
      if (is_stalled(excess.data(), iteration)) return kGivenUp;
    }
    return kGivenUp;
  }

 private:
  using Factors = std::array<double, backend::kMostRefined>;
  static constexpr Factors filled(double value) {
    Factors factors{};
    factors.fill(value);
    return factors;
  }
  static constexpr Factors kOnes = filled(1), kZeros = filled(0), kMinusOnes = filled(-1);

  using Measure = backend::Measure<T>;
  void measure(std::initializer_list<Measure> measures) {
    require(ops_.measure({measures.begin(), measures.size()}));
  }
  Variable variable(T* first) const { return {A_.n, count_, first, A_.n}; }
  Constant constant(const T* first) const { return {A_.n, count_, first, A_.n}; }

  /// R := B - A X.
  void compute_residual(const Constant& B, const Variable& X) {
    require(ops_.multiply(A_, {X.n, X.count, X.first, X.ld}, variable(work_.R)));
    require(ops_.combine(kOnes.data(), B, kMinusOnes.data(), variable(work_.R)));
  }

  /// Z := M^-1 R, scaled so that small residuals do not underflow.
  void precondition() {
    Factors down, up;
    for (int64_t j = 0; j < count_; ++j) {
      const bool is_zero = !(largest_[j] > 0) || !std::isfinite(largest_[j]);
      down[j] = is_zero ? 0 : 1 / largest_[j];
      up[j] = is_zero ? 0 : largest_[j];
    }
    const backend::Columns<Low> low{A_.n, count_, work_.low, A_.n};
    require(ops_.round(down.data(), constant(work_.R), low));
    precondition_(low);
    require(ops_.extend(up.data(), {low.n, low.count, low.first, low.ld}, variable(work_.Z)));
  }

  /// One step of all columns. False where A or the preconditioner is not positive definite.
  bool advance(const Variable& X, bool is_restarted) {
    precondition();
    Factors rho, along, curvature, beta = kZeros, minus_alpha;
    const Measure r_z = Measure::inner(constant(work_.R), constant(work_.Z), rho.data());
    if (is_restarted) {
      measure({r_z});
    } else {
      // z^H (r - r_before) = -alpha z^H A p.
      measure({r_z, Measure::inner(constant(work_.Z), constant(work_.Q), along.data())});
      for (int64_t j = 0; j < count_; ++j)
        beta[j] = rho_[j] > 0 ? -alpha_[j] * along[j] / rho_[j] : 0;
    }
    require(ops_.combine(kOnes.data(), constant(work_.Z), beta.data(), variable(work_.P)));
    require(ops_.multiply(A_, constant(work_.P), variable(work_.Q)));
    measure({Measure::inner(constant(work_.P), constant(work_.Q), curvature.data())});
    for (int64_t j = 0; j < count_; ++j) {
      if (!(rho[j] >= 0) || (rho[j] > 0 && !(curvature[j] > 0))) return false;
      alpha_[j] = rho[j] > 0 ? rho[j] / curvature[j] : 0;
      minus_alpha[j] = -alpha_[j];
    }
    rho_ = rho;
    require(ops_.combine(alpha_.data(), constant(work_.P), kOnes.data(), X));
    require(ops_.combine(minus_alpha.data(), constant(work_.Q), kOnes.data(), variable(work_.R)));
    return true;
  }

  /// How many times the largest residual exceeds the criterion, of all columns; NaN if one is. Also
  /// sets largest_.
  double excess_of(const Variable& X) {
    Factors x;
    measure({Measure::largest(constant(work_.R), largest_.data()),
             Measure::largest({X.n, X.count, X.first, X.ld}, x.data())});
    double excess = 0;
    for (int64_t j = 0; j < count_; ++j) {
      if (largest_[j] == 0) continue;
      const double of_column = largest_[j] / (x[j] * criterion_);
      if (!(of_column <= excess)) excess = of_column;
    }
    return excess;
  }

  /// Whether the residual was not halved in a few iterations.
  static bool is_stalled(const double* excess, int iteration) {
    constexpr int kFew = 6;
    return std::isnan(excess[iteration]) ||
           (iteration >= kFew && excess[iteration] > excess[iteration - kFew] / 2);
  }

  backend::Refinement<T>& ops_;
  backend::Hermitian<const T> A_;
  double criterion_;
  Work work_;
  Precondition precondition_;
  int64_t count_ = 0;
  Factors rho_{}, alpha_{};  ///< of the last step
  Factors largest_{};        ///< element of R
};

}  // namespace chol::routine
