// Test matrices. Every generator takes its random numbers from one seeded stream, so that a seed
// identifies a matrix on every machine.
#pragma once

#include <random>
#include <vector>

#include "support/dense.hpp"

namespace chol::test {

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  uint64_t bits() { return bits_(); }
  /// In [0, 1), the same on every standard library.
  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * unit(); }
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return unit() < probability; }
  /// Real and imaginary part in [-1, 1).
  template <class W>
  W scalar() {
    if constexpr (is_complex<W>) {
      const double re = between(-1, 1);
      return W(static_cast<RealOf<W>>(re), static_cast<RealOf<W>>(between(-1, 1)));
    } else {
      return static_cast<W>(between(-1, 1));
    }
  }

 private:
  std::mt19937_64 bits_;
};

/// Rounds a wide Hermitian matrix, given by its lower triangle, to T and mirrors it.
template <class T>
Dense<T> hermitian_from_lower(const Dense<Wide<T>>& lower);

template <class T>
Dense<T> random_dense(int64_t rows, int64_t columns, Random& random);

/// Well conditioned (about 10 at n = 10, 60 at n = 600): a sum of a few rank-1 terms that couples
/// every column, noise, and a shift above the noise's norm.
template <class T>
Dense<T> random_spd(int64_t n, Random& random);

/// Condition number kappa with eigenvalues spread evenly in the logarithm: Q diag(w) Q^H, Q a
/// product of three random reflectors.
template <class T>
Dense<T> conditioned_spd(int64_t n, double kappa, Random& random);

/// The Hilbert matrix, in complex types with phases that are exact in every precision.
template <class T>
Dense<T> hilbert(int64_t n);

/// A with rows and columns scaled by powers of two, given by their exponents.
template <class T>
Dense<T> scaled(const Dense<T>& A, const std::vector<int>& exponents);

/// Diagonal elements from 10^-decades to 10^decades (150 in double, 15 in single precision).
template <class T>
Dense<T> graded_spd(int64_t n, Random& random);

/// Every element so small that the diagonal is denormal.
template <class T>
Dense<T> denormal_spd(int64_t n, Random& random);

}  // namespace chol::test
