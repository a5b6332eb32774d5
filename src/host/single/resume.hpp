// Continues a partial factorization of another backend: its first columns are final, the others
// unchanged. Updates the trailing matrix, which is then factored as a separate matrix.
#pragma once

#include <algorithm>

#include "backend/backend.hpp"
#include "base/threads/parallel_for.hpp"

namespace chol::host {

template <class T>
bool is_partially_factored(const backend::Problem<T>& problem) {
  return problem.factored && *problem.factored > 0;
}

/// The trailing matrix.
template <class T>
backend::Problem<T> rest_of(const backend::Problem<T>& problem) {
  backend::Problem<T> rest = problem;
  rest.factored = nullptr;
  rest.A.first += *problem.factored * (problem.A.ld + 1);
  rest.sizes.n -= *problem.factored;
  return rest;
}

/// C -= A B^H for rows i0 .. i1 and columns j0 .. j1 of the lower view, whose element (i, j) is at
/// i * rs + j * cs; A and B are its rows in columns k0 .. k1. Only the lower triangle of C.
template <class T>
void subtract_block(T* L, int64_t rs, int64_t cs, int64_t i0, int64_t i1, int64_t j0, int64_t j1,
                    int64_t k0, int64_t k1) {
  const auto conjugate = [](T x) {
    if constexpr (is_complex<T>)
      return std::conj(x);
    else
      return x;
  };
  for (int64_t j = j0; j < j1; ++j) {
    const int64_t top = std::max(i0, j);
    if (rs == 1) {
      for (int64_t k = k0; k < k1; ++k) {
        const T factor = conjugate(L[j + k * cs]);
        for (int64_t i = top; i < i1; ++i) L[i + j * cs] -= L[i + k * cs] * factor;
      }
    } else {
      for (int64_t i = top; i < i1; ++i) {
        T sum = 0;
        for (int64_t k = k0; k < k1; ++k) sum += L[i * rs + k] * conjugate(L[j * rs + k]);
        L[i * rs + j] -= sum;
      }
    }
  }
}

/// Plain loops over blocks that fit into the cache: this is needed once, when a device is lost.
template <class T>
void update_trailing_matrix(const backend::Problem<T>& problem, int threads) {
  constexpr int64_t kColumns = 32, kRows = 256, kDepth = 64;
  const int64_t n = problem.sizes.n, done = *problem.factored, ld = problem.A.ld;
  const bool upper = problem.uplo == CHOL_UPPER;
  const int64_t rs = upper ? ld : 1, cs = upper ? 1 : ld;
  T* const L = problem.A.first;
  const auto block_column = [&](int64_t at, bool, int) {
    const int64_t j = done + at * kColumns;
    for (int64_t i = j; i < n; i += kRows)
      for (int64_t k = 0; k < done; k += kDepth)
        subtract_block(L, rs, cs, i, std::min(n, i + kRows), j, std::min(n, j + kColumns), k,
                       std::min(done, k + kDepth));
  };
  parallel_for({(n - done + kColumns - 1) / kColumns, 1, 1}, threads, block_column);
}

}  // namespace chol::host
