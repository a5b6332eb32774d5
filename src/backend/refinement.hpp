// Operations that mixed-precision refinement needs from a backend in addition to the routines of
// the lower precision.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/scalar.hpp"
#include "base/status.hpp"
#include "chol.h"

namespace chol::backend {

template <class T>
using LowerPrecision = std::conditional_t<is_complex<T>, std::complex<float>, float>;

/// Largest number of columns of one operation: their factors are kernel arguments on a device.
inline constexpr int64_t kMostRefined = 64;

/// A Hermitian matrix given by one triangle.
template <class T>
struct Hermitian {
  chol_uplo_t uplo;
  int64_t n;
  T* A;
  int64_t ld;
};

/// n by `count` elements, count at most kMostRefined.
template <class T>
struct Columns {
  int64_t n, count;
  T* first;
  int64_t ld;
};

/// A number for each column of X.
template <class T>
struct Measure {
  Columns<const T> X, Y;
  double* result;

  /// The real part of X(:, j)^H Y(:, j).
  static Measure inner(const Columns<const T>& X, const Columns<const T>& Y, double* result) {
    return {X, Y, result};
  }
  /// The largest |Re x| + |Im x| of X(:, j); NaN where an element is.
  static Measure largest(const Columns<const T>& X, double* result) { return {X, {}, result}; }
  bool is_inner() const { return Y.first != nullptr; }
};
inline constexpr int64_t kMostMeasures = 2;

/// Arrays of elements are in the backend's memory, factors and results on the host. An operation
/// that has a result waits for it; the others are in the order of the stream.
template <class T>
class Refinement {
 public:
  using Low = LowerPrecision<T>;
  virtual ~Refinement() = default;

  /// The named triangle of `to` becomes that of A, rounded.
  /// @param[out] norm the largest sum of absolute values of a row of A; NaN or infinity where an
  ///        element is
  /// @param[out] overflows whether an element of A is larger than any of the lower precision
  virtual Status round(const Hermitian<const T>& A, const Hermitian<Low>& to, double* norm,
                       bool* overflows) = 0;
  /// Y := A X.
  virtual Status multiply(const Hermitian<const T>& A, const Columns<const T>& X,
                          const Columns<T>& Y) = 0;

  /// Y(:, j) := x[j] X(:, j) + y[j] Y(:, j); with y[j] = 0 the old content of Y(:, j) is ignored.
  virtual Status combine(const double* x, const Columns<const T>& X, const double* y,
                         const Columns<T>& Y) = 0;
  /// low(:, j) := factor[j] X(:, j), rounded, and the opposite conversion.
  virtual Status round(const double* factor, const Columns<const T>& X,
                       const Columns<Low>& low) = 0;
  virtual Status extend(const double* factor, const Columns<const Low>& low,
                        const Columns<T>& X) = 0;
  /// All of them together, at most kMostMeasures, because each result costs a synchronization.
  virtual Status measure(std::span<const Measure<T>> measures) = 0;
  /// An int that the backend's routines have written.
  virtual Status read(const int* value, int* result) = 0;
};

}  // namespace chol::backend
