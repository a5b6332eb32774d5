// Positive definite matrices with known defects, right-hand sides, and checks of LAPACK's results.
// Memory outside the named triangle is filled with a pattern that must not change.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/scalar.hpp"

namespace chol::test::preload {

/// Value that is stored on or off the diagonal.
enum class Damage { none, negative, zero, nan, infinite, minus_infinite, denormal, nan_below };
inline constexpr Damage kDamages[] = {
    Damage::none,     Damage::negative, Damage::zero,           Damage::nan,
    Damage::infinite, Damage::denormal, Damage::minus_infinite, Damage::nan_below};
inline const char* name_of(Damage damage) {
  static constexpr const char* kNames[] = {"positive definite", "a negative pivot",
                                           "a zero pivot",      "a NaN pivot",
                                           "an infinite pivot", "a pivot of minus infinity",
                                           "a denormal pivot",  "a NaN beside the diagonal"};
  return kNames[static_cast<int>(damage)];
}

template <class T>
class SmallMatrix {
 public:
  using R = RealOf<T>;

  /// Diagonally dominant, elements from a fixed sequence.
  SmallMatrix(char uplo, int n, int lda)
      : lower_((uplo & ~0x20) == 'L'), n_(n), lda_(lda), elements_(size(n, lda), mark()) {
    unsigned state = 12345;
    const auto next = [&] {
      state = state * 1103515245 + 12345;
      return static_cast<R>((state >> 16) % 2001) / 1000 - 1;
    };
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i) {
        T value = next();
        if constexpr (is_complex<T>) value = {std::real(value), i == j ? R(0) : next()};
        if (i == j) value = static_cast<R>(2 * n + 1);
        set(i, j, value);
      }
  }

  T* data() { return elements_.data(); }
  T& at(int i, int j) { return elements_[i + static_cast<size_t>(j) * lda_]; }
  std::vector<T>& elements() { return elements_; }
  int n() const { return n_; }
  bool operator==(const SmallMatrix& other) const = default;

  void damage(Damage damage, int where) {
    const R infinity = std::numeric_limits<R>::infinity();
    const R nan = std::numeric_limits<R>::quiet_NaN();
    if (damage == Damage::none) return;
    if (damage == Damage::nan_below) return where + 1 < n_ ? set(n_ - 1, where, nan) : void();
    const R values[] = {
        0, R(-1), 0, nan, infinity, -infinity, std::numeric_limits<R>::denorm_min() * 16};
    set(where, where, values[static_cast<int>(damage)]);
    // A denormal pivot can only stand alone.
    for (int k = 0; damage == Damage::denormal && k < n_; ++k)
      if (k != where) set(std::max(k, where), std::min(k, where), 0);
  }

  /// Element (i, j) of the Hermitian matrix.
  T value(int i, int j) const {
    if (i < j) return conjugate(value(j, i));
    const T stored = elements_[position(i, j)];
    return lower_ ? stored : conjugate(stored);
  }

  /// A factor of info - 1 columns (of n with info = 0) against what was factored.
  const char* judge_factor(const SmallMatrix& input, int info) const {
    return rest_is_marked() ? judge_columns(input, info) : "wrote outside its triangle";
  }
  const char* judge_columns(const SmallMatrix& input, int info) const {
    const int columns = info == 0 ? n_ : info - 1;
    R worst = 0;
    for (int j = 0; j < columns; ++j)
      for (int i = j; i < columns; ++i) {
        T sum = 0;
        for (int k = 0; k <= j; ++k) sum += value(i, k) * conjugate(value(j, k));
        const R error = std::abs(sum - input.value(i, j));
        if (std::isinf(std::abs(input.value(i, j)))) continue;
        if (!(error <= worst)) worst = error;
      }
    return verdict(worst / (n_ * scale()));
  }

  /// The inverse: A times the columns of it against the identity.
  const char* judge_inverse(const SmallMatrix& input) const {
    if (!rest_is_marked()) return "wrote outside its triangle";
    R worst = 0;
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < n_; ++i) {
        T sum = i == j ? T(-1) : T(0);
        for (int k = 0; k < n_; ++k) sum += input.value(i, k) * value(k, j);
        const R error = std::abs(sum);
        if (!(error <= worst)) worst = error;
      }
    return verdict(worst / n_);
  }

  static const char* verdict(R relative_error) {
    if (relative_error <= 30 * std::numeric_limits<R>::epsilon()) return "accurate";
    return std::isfinite(relative_error) ? "inaccurate" : "not finite";
  }
  R scale() const { return static_cast<R>(2 * n_ + 1); }
  static T conjugate(T value) {
    if constexpr (is_complex<T>)
      return std::conj(value);
    else
      return value;
  }

 private:
  static T mark() { return T(-77); }
  static size_t size(int n, int lda) { return static_cast<size_t>(lda) * (n > 0 ? n : 1) + 1; }
  size_t position(int i, int j) const {
    return lower_ ? i + static_cast<size_t>(j) * lda_ : j + static_cast<size_t>(i) * lda_;
  }
  void set(int i, int j, T value) { elements_[position(i, j)] = lower_ ? value : conjugate(value); }
  bool rest_is_marked() const {
    for (int j = 0; j < n_; ++j)
      for (int i = 0; i < lda_; ++i) {
        const bool named = i < n_ && (lower_ ? i >= j : i <= j);
        if (!named && elements_[i + static_cast<size_t>(j) * lda_] != mark()) return false;
      }
    return true;
  }

  bool lower_;
  int n_, lda_;
  std::vector<T> elements_;
};

/// B = A X for a known X.
template <class T>
class SmallRhs {
 public:
  using R = RealOf<T>;
  SmallRhs(const SmallMatrix<T>& A, int nrhs, int ldb)
      : n_(A.n()),
        nrhs_(nrhs),
        ldb_(ldb),
        elements_(static_cast<size_t>(ldb) * (nrhs + 1), T(-77)) {
    for (int j = 0; j < nrhs; ++j)
      for (int i = 0; i < n_; ++i) {
        T sum = 0;
        for (int k = 0; k < n_; ++k) sum += A.value(i, k) * solution(k, j);
        elements_[i + static_cast<size_t>(j) * ldb] = sum;
      }
    input_ = elements_;
  }
  T* data() { return elements_.data(); }
  const std::vector<T>& elements() const { return elements_; }

  const char* judge(bool solved) const {
    if (!solved) return elements_ == input_ || has_nan() ? "B unchanged" : "B changed";
    R worst = 0;
    for (int j = 0; j < nrhs_; ++j) {
      for (int i = n_; i < ldb_; ++i)
        if (elements_[i + static_cast<size_t>(j) * ldb_] != T(-77)) return "wrote beyond a column";
      for (int i = 0; i < n_; ++i) {
        const R error = std::abs(elements_[i + static_cast<size_t>(j) * ldb_] - solution(i, j));
        if (!(error <= worst)) worst = error;
      }
    }
    return SmallMatrix<T>::verdict(worst / (n_ + 1));
  }

 private:
  static T solution(int i, int j) { return static_cast<R>(1 + (i + 2 * j) % 3); }
  bool has_nan() const {
    for (const T value : input_)
      if (std::isnan(std::abs(value))) return true;
    return false;
  }
  int n_, nrhs_, ldb_;
  std::vector<T> elements_, input_;
};

}  // namespace chol::test::preload
