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

/// Steps are collected in a panel before the trailing matrix is updated; only columns that may
/// contain the next pivot are updated immediately.
template <class T>
class RookPivoting {
  using R = RealOf<T>;

 public:
  /// Factors a tile (n by n, contiguous, of which the lower triangle is read).
  RookPivoting(const T* A, int64_t n)
      : n_(n),
        A_(n * n),
        panel_(n * (kPanel + 1)),
        column_(n),
        other_(n),
        order_(static_cast<size_t>(n)) {
    for (int64_t j = 0; j < n; ++j) {
      std::copy_n(A + j + j * n, n - j, &a(j, j));
      a(j, j) = T(std::real(a(j, j)));
    }
    std::iota(order_.begin(), order_.end(), int64_t{0});
    for (int64_t k = 0; k < n_;) {
      k += eliminate(k);
      if (k - first_ >= kPanel) empty_panel(k);
    }
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
  /// Element (i, j) of L below the blocks of D.
  const T& l(int64_t i, int64_t j) const { return A_.get()[i + j * n_]; }

 private:
  static constexpr int64_t kPanel = 32;  ///< columns, or one more after a block of order 2

  T& a(int64_t i, int64_t j) { return A_.get()[i + j * n_]; }
  /// Element (i, j) of L D, of a column in the panel.
  T& w(int64_t i, int64_t j) { return panel_.get()[i + (j - first_) * n_]; }

  /// Column j of the trailing matrix before step k.
  void load(int64_t k, int64_t j, T* x) {
    for (int64_t i = k; i < j; ++i) x[i] = conjugate(a(j, i));
    for (int64_t i = j; i < n_; ++i) x[i] = a(i, j);
    for (int64_t c = first_; c < k; ++c) {
      const T factor = conjugate(w(j, c));
      const T* const l = &a(0, c);
      for (int64_t i = k; i < n_; ++i) x[i] -= l[i] * factor;
    }
    x[j] = T(std::real(x[j]));
  }

  /// Subtracts the steps of the panel from columns k to n, two columns and four steps at a time: 16
  /// operations an element.
  void empty_panel(int64_t k) {
    constexpr int64_t kSteps = 4;
    for (int64_t j = k; j < n_; j += 2) {
      const bool is_pair = j + 1 < n_;
      T *const x = &a(0, j), *const y = is_pair ? &a(0, j + 1) : x;
      int64_t c = first_;
      for (; c + kSteps <= k && is_pair; c += kSteps) {
        const T *const l0 = &a(0, c), *const l1 = l0 + n_, *const l2 = l1 + n_, *const l3 = l2 + n_;
        T p[kSteps], q[kSteps];
        for (int64_t s = 0; s < kSteps; ++s) {
          p[s] = conjugate(w(j, c + s));
          q[s] = conjugate(w(j + 1, c + s));
        }
        x[j] -= l0[j] * p[0] + l1[j] * p[1] + l2[j] * p[2] + l3[j] * p[3];
        for (int64_t i = j + 1; i < n_; ++i) {
          x[i] -= l0[i] * p[0] + l1[i] * p[1] + l2[i] * p[2] + l3[i] * p[3];
          y[i] -= l0[i] * q[0] + l1[i] * q[1] + l2[i] * q[2] + l3[i] * q[3];
        }
      }
      for (; c < k; ++c) {
        const T *const l = &a(0, c), p = conjugate(w(j, c));
        for (int64_t i = j; i < n_; ++i) x[i] -= l[i] * p;
        if (!is_pair) continue;
        const T q = conjugate(w(j + 1, c));
        for (int64_t i = j + 1; i < n_; ++i) y[i] -= l[i] * q;
      }
    }
    first_ = k;
  }

  /// The largest element outside the diagonal of column j, from row `first` on.
  R largest(int64_t first, int64_t j, const T* x, int64_t* row) const {
    R most = 0;
    *row = first;
    for (int64_t i = first; i < n_; ++i)
      if (i != j && std::abs(x[i]) > most) {
        most = std::abs(x[i]);
        *row = i;
      }
    return most;
  }

  /// Exchanges rows and columns p < q of the trailing matrix, and the rows of L.
  void exchange(int64_t p, int64_t q) {
    if (p == q) return;
    for (int64_t j = 0; j < p; ++j) std::swap(a(p, j), a(q, j));
    std::swap(a(p, p), a(q, q));
    for (int64_t i = p + 1; i < q; ++i) {
      const T x = conjugate(a(i, p));
      a(i, p) = conjugate(a(q, i));
      a(q, i) = x;
    }
    a(q, p) = conjugate(a(q, p));
    for (int64_t i = q + 1; i < n_; ++i) std::swap(a(i, p), a(i, q));
    for (int64_t c = first_; c < p; ++c) std::swap(w(p, c), w(q, c));
    std::swap(order_[p], order_[q]);
  }

  /// One step with a pivot block of order 1 or 2, which is returned.
  int64_t eliminate(int64_t k) {
    T *x = column_.get(), *y = other_.get();
    load(k, k, x);
    const R alpha = (1 + std::sqrt(R(17))) / 8;
    int64_t next = k;
    R before = largest(k, k, x, &next);
    if (k + 1 == n_ || std::abs(x[k]) >= alpha * before) return eliminate_one(k, x);
    for (int64_t p = k, j = next;;) {
      load(k, j, y);
      int64_t row = k;
      const R most = largest(k, j, y, &row);
      if (std::abs(y[j]) >= alpha * most) {
        exchange(k, j);
        std::swap(y[k], y[j]);
        return eliminate_one(k, y);
      }
      if (!(most > before)) return eliminate_pair(k, p, j, x, y);
      p = j;
      j = row;
      before = most;
      std::swap(x, y);
    }
  }

  /// With columns p and q, in x and y, as the block.
  int64_t eliminate_pair(int64_t k, int64_t p, int64_t q, T* x, T* y) {
    const auto move = [&](int64_t to, int64_t from) {
      exchange(to, from);
      std::swap(x[to], x[from]);
      std::swap(y[to], y[from]);
    };
    move(k, p);
    move(k + 1, q == k ? p : q);
    return eliminate_two(k, x, y);
  }

  int64_t eliminate_one(int64_t k, const T* x) {
    const R pivot = std::real(x[k]);
    blocks_.push_back({k, 1, pivot, 0, T(0)});
    // Of a pivot of zero the column is zero.
    for (int64_t i = k + 1; i < n_; ++i) {
      w(i, k) = x[i];
      a(i, k) = pivot == 0 ? x[i] : x[i] / pivot;
    }
    return 1;
  }

  int64_t eliminate_two(int64_t k, const T* x, const T* y) {
    const R p = std::real(x[k]), q = std::real(y[k + 1]);
    const T c = x[k + 1];
    const R determinant = p * q - std::norm(c);
    blocks_.push_back({k, 2, p, q, c});
    // Rows of L: those of A times the inverse of the block.
    for (int64_t i = k + 2; i < n_; ++i) {
      w(i, k) = x[i];
      w(i, k + 1) = y[i];
      a(i, k) = (x[i] * q - y[i] * c) / determinant;
      a(i, k + 1) = (y[i] * p - x[i] * conjugate(c)) / determinant;
    }
    return 2;
  }

  int64_t n_, first_ = 0;  ///< of the panel
  Buffer<T> A_, panel_, column_, other_;
  std::vector<int64_t> order_;
  std::vector<Block> blocks_;
};

}  // namespace chol::host
