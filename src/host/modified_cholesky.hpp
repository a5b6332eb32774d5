// The modified Cholesky algorithm of Cheng and Higham (1998) for one tile: P A P^T = L B L^H with
// rook pivoting, whose L is bounded, and the eigenvalues of the blocks of B raised.
#pragma once

#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "base/buffer.hpp"
#include "host/orthogonal.hpp"

namespace chol::host {

template <class T>
class ModifiedCholesky {
  using R = RealOf<T>;

 public:
  /// @param A n by n, contiguous, of which the lower triangle is read
  ModifiedCholesky(const T* A, int64_t n)
      : n_(n), A_(n * n), L_(n * n), B_(n * n), order_(static_cast<size_t>(n)) {
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        a(i, j) = A[i + j * n];
        a(j, i) = conjugate(A[i + j * n]);
      }
    std::fill_n(L_.get(), n * n, T(0));
    std::fill_n(B_.get(), n * n, T(0));
    std::iota(order_.begin(), order_.end(), int64_t{0});
  }

  /// Writes A + E to the lower triangle of `to`, with the eigenvalues of the blocks of B at least
  /// `least`.
  /// @param multiply(product) as backend::Product says
  template <class Multiply>
  void run(const Multiply& multiply, R least, T* to) {
    for (int64_t k = 0; k < n_;) k += eliminate(k, least);
    // A_ is done with: A + E = L (B L^H).
    Buffer<T> right(n_ * n_);
    multiply({false, true, 0, n_, n_, n_, B_.get(), n_, L_.get(), n_, right.get(), n_});
    multiply({false, false, 0, n_, n_, n_, L_.get(), n_, right.get(), n_, A_.get(), n_});
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = j; i < n_; ++i) {
        const int64_t row = order_[i], column = order_[j];
        if (row >= column)
          to[row + column * n_] = a(i, j);
        else
          to[column + row * n_] = conjugate(a(i, j));
      }
    for (int64_t i = 0; i < n_; ++i) to[i + i * n_] = std::real(to[i + i * n_]);
  }

 private:
  static T conjugate(const T& x) {
    if constexpr (is_complex<T>)
      return std::conj(x);
    else
      return x;
  }
  T& a(int64_t i, int64_t j) { return A_.get()[i + j * n_]; }
  T& l(int64_t i, int64_t j) { return L_.get()[i + j * n_]; }
  T& b(int64_t i, int64_t j) { return B_.get()[i + j * n_]; }

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

  void exchange(int64_t k, int64_t p, int64_t q) {
    if (p == q) return;
    for (int64_t i = k; i < n_; ++i) std::swap(a(i, p), a(i, q));
    for (int64_t j = k; j < n_; ++j) std::swap(a(p, j), a(q, j));
    for (int64_t j = 0; j < k; ++j) std::swap(l(p, j), l(q, j));
    std::swap(order_[p], order_[q]);
  }

  /// One step with a pivot block of order 1 or 2, which is returned.
  int64_t eliminate(int64_t k, R least) {
    const R alpha = (1 + std::sqrt(R(17))) / 8;
    int64_t next = k;
    R before = largest(k, k, &next);
    if (std::abs(a(k, k)) >= alpha * before) return eliminate_one(k, least);
    for (int64_t p = k, j = next;;) {
      int64_t row = k;
      const R most = largest(k, j, &row);
      if (std::abs(a(j, j)) >= alpha * most) {
        exchange(k, k, j);
        return eliminate_one(k, least);
      }
      if (!(most > before)) {
        exchange(k, k, p);
        exchange(k, k + 1, j == k ? p : j);
        return eliminate_two(k, least);
      }
      p = j;
      j = row;
      before = most;
    }
  }

  int64_t eliminate_one(int64_t k, R least) {
    const R pivot = std::real(a(k, k));
    l(k, k) = T(1);
    b(k, k) = std::max(pivot, least);
    if (pivot == 0) return 1;  // so is the column
    for (int64_t i = k + 1; i < n_; ++i) l(i, k) = a(i, k) / pivot;
    for (int64_t j = k + 1; j < n_; ++j) {
      const T factor = conjugate(a(j, k));
      for (int64_t i = k + 1; i < n_; ++i) a(i, j) -= l(i, k) * factor;
    }
    return 1;
  }

  int64_t eliminate_two(int64_t k, R least) {
    const R p = std::real(a(k, k)), q = std::real(a(k + 1, k + 1));
    const T c = a(k + 1, k);  // of the pivot block (p, conj(c); c, q)
    const R determinant = p * q - std::norm(c);
    l(k, k) = l(k + 1, k + 1) = T(1);
    for (int64_t i = k + 2; i < n_; ++i) {
      l(i, k) = (a(i, k) * q - a(i, k + 1) * c) / determinant;
      l(i, k + 1) = (a(i, k + 1) * p - a(i, k) * conjugate(c)) / determinant;
    }
    for (int64_t j = k + 2; j < n_; ++j) {
      const T first = conjugate(a(j, k)), second = conjugate(a(j, k + 1));
      for (int64_t i = k + 2; i < n_; ++i) a(i, j) -= l(i, k) * first + l(i, k + 1) * second;
    }
    raise_block(k, p, q, c, least);
    return 2;
  }

  /// The pivot block with its eigenvalues raised: the sum of them times their projectors.
  void raise_block(int64_t k, R p, R q, const T& c, R least) {
    const R middle = (p + q) / 2, radius = std::hypot((p - q) / 2, std::abs(c));
    const R high = std::max(middle + radius, least), low = std::max(middle - radius, least);
    // With N = (block - middle) / radius, the projectors are (I + N) / 2 and (I - N) / 2.
    const R mean = (high + low) / 2, half = (high - low) / 2;
    b(k, k) = mean + half * (p - middle) / radius;
    b(k + 1, k + 1) = mean + half * (q - middle) / radius;
    b(k + 1, k) = c * (half / radius);
    b(k, k + 1) = conjugate(b(k + 1, k));
  }

  int64_t n_;
  Buffer<T> A_, L_, B_;
  std::vector<int64_t> order_;
};

}  // namespace chol::host
