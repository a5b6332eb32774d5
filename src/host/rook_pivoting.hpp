// P A P^H = L D L^H of one tile with rook pivoting, the bounded Bunch-Kaufman algorithm (Ashcraft,
// Grimes, Lewis 1998): L is unit lower triangular with bounded elements, D has blocks of order
// 1, 2.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <vector>

#include "base/buffer.hpp"
#include "base/scalar.hpp"
#include "host/conjugate.hpp"

namespace chol::host {

template <class T>
class RookPivoting {
  using R = RealOf<T>;

 public:
  /// Factors a tile (n by n, contiguous, of which the lower triangle is read).
  RookPivoting(const T* A, int64_t n) : n_(n), A_(n * n), order_(static_cast<size_t>(n)) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        a(i, j) = A[i + j * n];
        a(j, i) = conjugate(A[i + j * n]);
      }
    std::iota(order_.begin(), order_.end(), int64_t{0});
    for (int64_t k = 0; k < n_;) k += eliminate(k);
  }

  /// A block of D: the eigenvalues and, of order 2, the elements (p, conj(c); c, q).
  struct Block {
    int64_t first, order;
    R p, q;
    T c;
    R middle() const { return (p + q) / 2; }
    R radius() const { return std::hypot((p - q) / 2, std::abs(c)); }
  };
  const std::vector<Block>& blocks() const { return blocks_; }
  /// Row i of P A P^H is row order()[i] of A.
  const std::vector<int64_t>& order() const { return order_; }
  /// Element (i, j) of L, which is zero inside a block of D below the diagonal.
  const T& l(int64_t i, int64_t j) const { return A_.get()[i + j * n_]; }

 private:
  T& a(int64_t i, int64_t j) { return A_.get()[i + j * n_]; }

  /// The largest element of column j outside the diagonal, from row `first` on.
  R largest(int64_t first, int64_t j, int64_t* row) {
    R most = 0;
    *row = first;
    for (int64_t i = first; i < n_; ++i)
      if (i != j && std::abs(a(i, j)) > most) {
        most = std::abs(a(i, j));
        *row = i;
      }
    return most;
  }

  /// Of what is left of A, and of the rows of L.
  void exchange(int64_t k, int64_t p, int64_t q) {
    if (p == q) return;
    for (int64_t i = k; i < n_; ++i) std::swap(a(i, p), a(i, q));
    for (int64_t j = 0; j < n_; ++j) std::swap(a(p, j), a(q, j));
    std::swap(order_[p], order_[q]);
  }

  /// One step with a pivot block of order 1 or 2, which is returned.
  int64_t eliminate(int64_t k) {
    if (k + 1 == n_) return eliminate_one(k);
    const R alpha = (1 + std::sqrt(R(17))) / 8;
    int64_t next = k;
    R before = largest(k, k, &next);
    if (std::abs(a(k, k)) >= alpha * before) return eliminate_one(k);
    for (int64_t p = k, j = next;;) {
      int64_t row = k;
      const R most = largest(k, j, &row);
      if (std::abs(a(j, j)) >= alpha * most) {
        exchange(k, k, j);
        return eliminate_one(k);
      }
      if (!(most > before)) {
        exchange(k, k, p);
        exchange(k, k + 1, j == k ? p : j);
        return eliminate_two(k);
      }
      p = j;
      j = row;
      before = most;
    }
  }

  int64_t eliminate_one(int64_t k) {
    const R pivot = std::real(a(k, k));
    blocks_.push_back({k, 1, pivot, 0, T(0)});
    if (pivot == 0) return 1;  // so is the column
    for (int64_t j = k + 1; j < n_; ++j) {
      const T factor = conjugate(a(j, k)) / pivot;
      for (int64_t i = k + 1; i < n_; ++i) a(i, j) -= a(i, k) * factor;
    }
    for (int64_t i = k + 1; i < n_; ++i) a(i, k) /= pivot;
    return 1;
  }

  int64_t eliminate_two(int64_t k) {
    const R p = std::real(a(k, k)), q = std::real(a(k + 1, k + 1));
    const T c = a(k + 1, k);
    const R determinant = p * q - std::norm(c);
    blocks_.push_back({k, 2, p, q, c});
    // Rows of L: those of A times the inverse of the block.
    const auto left = [&](int64_t i) {
      return std::pair((a(i, k) * q - a(i, k + 1) * c) / determinant,
                       (a(i, k + 1) * p - a(i, k) * conjugate(c)) / determinant);
    };
    for (int64_t j = k + 2; j < n_; ++j) {
      const auto [x, y] = left(j);
      const T first = conjugate(x), second = conjugate(y);
      for (int64_t i = k + 2; i < n_; ++i) a(i, j) -= a(i, k) * first + a(i, k + 1) * second;
    }
    for (int64_t i = k + 2; i < n_; ++i) std::tie(a(i, k), a(i, k + 1)) = left(i);
    return 2;
  }

  int64_t n_;
  Buffer<T> A_;
  std::vector<int64_t> order_;
  std::vector<Block> blocks_;
};

}  // namespace chol::host
