// L D L^H of one tile with D = diag(1, -1, ...), as the indefinite factorization needs of a
// diagonal tile.
#pragma once

#include "host/rook_pivoting.hpp"

namespace chol::host {

/// L with A = L D L^H, D diagonal with elements 1 and -1, of a tile whose rows and columns are
/// permuted by `order`: L is lower triangular except for blocks of order 2 on its diagonal. Returns
/// 0, or i where pivot i is zero or not finite.
template <class T>
int indefinite_factor(T* A, int64_t n, int64_t* order, RealOf<T>* signs) {
  using R = RealOf<T>;
  const RookPivoting<T> factored(A, n);
  std::copy(factored.order().begin(), factored.order().end(), order);
  std::fill_n(A, n * n, T(0));
  for (const auto& block : factored.blocks()) {
    const int64_t k = block.first;
    T* const x = A + k * n;
    const auto sign = [&](int64_t i, R value) {
      signs[i] = std::signbit(value) ? R(-1) : R(1);
      return std::isfinite(value) && value != 0;
    };
    if (block.order == 1) {
      if (!sign(k, block.p)) return static_cast<int>(k + 1);
      const R root = std::sqrt(std::abs(block.p));
      x[k] = root;
      for (int64_t i = k + 1; i < n; ++i) x[i] = factored.l(i, k) * root;
      continue;
    }
    // The block is Q diag(high, low) Q^H; by rook pivoting c is not small against p and q.
    const R high = block.middle() + block.radius(), low = block.middle() - block.radius();
    if (!sign(k, high) || !sign(k + 1, low)) return static_cast<int>(k + 1);
    // (high - q, c) is an eigenvector of high, and (-conj(c), high - q) one of low.
    const R first = high - block.q, length = std::hypot(first, std::abs(block.c));
    const T second = block.c / length;
    const R high_root = std::sqrt(std::abs(high)), low_root = std::sqrt(std::abs(low));
    const T q[4] = {T(first / length * high_root), second * high_root,
                    -conjugate(second) * low_root, T(first / length * low_root)};
    x[k] = q[0];
    x[k + 1] = q[1];
    x[k + n] = q[2];
    x[k + 1 + n] = q[3];
    for (int64_t i = k + 2; i < n; ++i) {
      x[i] = factored.l(i, k) * q[0] + factored.l(i, k + 1) * q[1];
      x[i + n] = factored.l(i, k) * q[2] + factored.l(i, k + 1) * q[3];
    }
  }
  return 0;
}

}  // namespace chol::host
