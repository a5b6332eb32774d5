// The modified Cholesky algorithm of Cheng and Higham (1998) for one tile: P A P^T = L B L^H with
// rook pivoting, whose L is bounded, and the eigenvalues of the blocks of B raised.
#pragma once

#include "host/orthogonal.hpp"
#include "host/rook_pivoting.hpp"

namespace chol::host {

/// Writes A + E to the lower triangle of A (n by n, contiguous, of which that triangle is read),
/// with the eigenvalues of the blocks of B at least `least`.
/// @param multiply(product) as backend::Product says
template <class T, class Multiply>
void modified_cholesky(const Multiply& multiply, RealOf<T> least, T* A, int64_t n) {
  using R = RealOf<T>;
  const RookPivoting<T> factored(A, n);
  Buffer<T> L(n * n), right(n * n);
  std::fill_n(L.get(), n * n, T(0));
  std::fill_n(right.get(), n * n, T(0));
  // L and L B.
  for (const auto& block : factored.blocks()) {
    const int64_t k = block.first;
    T *const x = L.get() + k * n, *const y = right.get() + k * n;
    x[k] = T(1);
    for (int64_t i = k + block.order; i < n; ++i) x[i] = factored.l(i, k);
    if (block.order == 1) {
      for (int64_t i = k; i < n; ++i) y[i] = x[i] * std::max(block.p, least);
      continue;
    }
    x[k + 1 + n] = T(1);
    for (int64_t i = k + 2; i < n; ++i) x[i + n] = factored.l(i, k + 1);
    // The block with its eigenvalues raised is the sum of them times their projectors: with
    // N = (block - middle) / radius, these are (I + N) / 2 and (I - N) / 2.
    const R middle = block.middle(), radius = block.radius();
    const R high = std::max(middle + radius, least), low = std::max(middle - radius, least);
    const R mean = (high + low) / 2, half = (high - low) / 2;
    const R p = mean + half * (block.p - middle) / radius;
    const R q = mean + half * (block.q - middle) / radius;
    const T c = block.c * (half / radius);
    for (int64_t i = k; i < n; ++i) {
      y[i] = x[i] * p + x[i + n] * c;
      y[i + n] = x[i] * conjugate(c) + x[i + n] * q;
    }
  }
  Buffer<T> sum(n * n);
  multiply({false, true, 0, n, n, n, right.get(), n, L.get(), n, sum.get(), n});
  const std::vector<int64_t>& order = factored.order();
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = j; i < n; ++i) {
      const int64_t row = order[i], column = order[j];
      const T& value = sum.get()[i + j * n];
      if (row >= column)
        A[row + column * n] = value;
      else
        A[column + row * n] = conjugate(value);
    }
  for (int64_t i = 0; i < n; ++i) A[i + i * n] = std::real(A[i + i * n]);
}

}  // namespace chol::host
