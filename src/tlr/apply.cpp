#include "tlr/apply.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "api/precisions.h"

namespace chol::tlr {
namespace {

template <class T>
int64_t largest_rank(const Matrix<T>& A) {
  int64_t most = 0;
  for (const Tile<T>& tile : A.lower) most = std::max(most, tile.rank);
  return most;
}

/// Y := Y + sign * tile * X, or of the tile's adjoint; Z holds rank by n elements.
template <class T>
void add_tile(const Tile<T>& tile, int64_t rows, int64_t columns, bool adjoint, int sign, int64_t n,
              const T* X, int64_t ldx, T* Y, int64_t ldy, T* Z, backend::ProductGroups<T>& groups) {
  if (tile.dense) {
    groups.add({adjoint, false, sign, adjoint ? columns : rows, n, adjoint ? rows : columns,
                tile.U.get(), rows, X, ldx, Y, ldy});
    return;
  }
  if (tile.rank == 0) return;
  const T *left = tile.U.get(), *right = tile.V.get();
  if (adjoint) {
    std::swap(left, right);
    std::swap(rows, columns);
  }
  groups.add({true, false, 0, tile.rank, n, columns, right, columns, X, ldx, Z, tile.rank});
  groups.add({false, false, sign, rows, n, tile.rank, left, rows, Z, tile.rank, Y, ldy});
}

/// Which tiles take part in a product.
struct Part {
  bool lower, upper, adjoint_diagonal;
};

template <class T>
void multiply_part(backend::TileOps<T>& ops, const Matrix<T>& A, Part part, int64_t n, const T* X,
                   int64_t ldx, T* Y, int64_t ldy) {
  const int64_t rank = largest_rank(A);
  Buffer<T> scratch(A.tiles * rank * n);
  backend::ProductGroups<T> groups;
  for (int64_t i = 0; i < A.tiles; ++i) {
    const int64_t rows = A.rows(i);
    T* const Z = scratch.get() + i * rank * n;
    T* const to = Y + A.start(i);
    groups.begin_group();
    groups.add({part.adjoint_diagonal, false, 0, rows, n, rows, A.diagonal[i].get(), rows,
                X + A.start(i), ldx, to, ldy});
    for (int64_t j = 0; part.lower && j < i; ++j)
      add_tile(A.at(i, j), rows, A.rows(j), false, 1, n, X + A.start(j), ldx, to, ldy, Z, groups);
    for (int64_t j = i + 1; part.upper && j < A.tiles; ++j)
      add_tile(A.at(j, i), A.rows(j), rows, true, 1, n, X + A.start(j), ldx, to, ldy, Z, groups);
  }
  ops.multiply(groups);
}

/// Y := P X, or P^T X; Y is not X.
template <class T>
Status permute(backend::TileOps<T>& ops, const Matrix<T>& A, bool back, int64_t nrhs, const T* X,
               int64_t ldx, T* Y, int64_t ldy) {
  std::vector<int64_t> order = A.permutation;
  if (back)
    for (int64_t i = 0; i < A.n; ++i) order[A.permutation[i]] = i;
  backend::Rearrangement<T> item{X, ldx, Y, ldy, A.n, nrhs};
  item.row_order = order.data();
  return ops.rearrange({item});
}

/// X := D X.
template <class T>
Status apply_signs(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, T* X, int64_t ldx) {
  std::vector<backend::Rearrangement<T>> list;
  for (int64_t i = 0; i < std::ssize(A.signs); ++i) {
    if (A.signs[i].empty()) continue;
    T* const x = X + A.start(i);
    list.push_back({x, ldx, x, ldx, A.rows(i), nrhs});
    list.back().row_signs = A.signs[i].data();
  }
  return list.empty() ? Status::success() : ops.rearrange(list);
}

template <class T>
void solve_triangular(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                      T* B, int64_t ldb) {
  const int64_t rank = largest_rank(A);
  Buffer<T> scratch(A.tiles * rank * nrhs);
  for (int64_t step = 0; step < A.tiles; ++step) {
    const int64_t k = adjoint ? A.tiles - 1 - step : step;
    T* const X = B + A.start(k);
    ops.solve({{A.diagonal[k].get(), A.inverses[k].get(), A.rows(k), adjoint, X, nrhs, ldb}});
    backend::ProductGroups<T> groups;
    const int64_t from = adjoint ? 0 : k + 1, to = adjoint ? k : A.tiles;
    for (int64_t i = from; i < to; ++i) {
      const int64_t row = std::max(i, k), column = std::min(i, k);
      groups.begin_group();
      add_tile(A.at(row, column), A.rows(row), A.rows(column), adjoint, -1, nrhs, X, ldb,
               B + A.start(i), ldb, scratch.get() + i * rank * nrhs, groups);
    }
    ops.multiply(groups);
  }
}

}  // namespace

template <class T>
Status multiply_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                     const T* X, int64_t ldx, T* Y, int64_t ldy) {
  const Part part{!adjoint, adjoint, adjoint};
  if (A.permutation.empty() || nrhs == 0) {
    multiply_part(ops, A, part, nrhs, X, ldx, Y, ldy);
    return Status::success();
  }
  Buffer<T> ordered(A.n * nrhs);
  if (adjoint) {
    const Status status = permute(ops, A, false, nrhs, X, ldx, ordered.get(), A.n);
    if (status.ok()) multiply_part(ops, A, part, nrhs, ordered.get(), A.n, Y, ldy);
    return status;
  }
  multiply_part(ops, A, part, nrhs, X, ldx, ordered.get(), A.n);
  return permute(ops, A, true, nrhs, ordered.get(), A.n, Y, ldy);
}

template <class T>
Status multiply(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, const T* X, int64_t ldx,
                T* Y, int64_t ldy) {
  if (A.state != State::factored) {
    multiply_part(ops, A, {true, true, false}, nrhs, X, ldx, Y, ldy);
    return Status::success();
  }
  Buffer<T> half(A.n * nrhs);
  Status status = multiply_half(ops, A, true, nrhs, X, ldx, half.get(), A.n);
  if (status.ok()) status = apply_signs(ops, A, nrhs, half.get(), A.n);
  return status.ok() ? multiply_half(ops, A, false, nrhs, half.get(), A.n, Y, ldy) : status;
}

template <class T>
Status solve_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs, T* B,
                  int64_t ldb) {
  if (A.permutation.empty() || nrhs == 0) {
    solve_triangular(ops, A, adjoint, nrhs, B, ldb);
    return Status::success();
  }
  Buffer<T> ordered(A.n * nrhs);
  if (adjoint) solve_triangular(ops, A, true, nrhs, B, ldb);
  const Status status = permute(ops, A, adjoint, nrhs, B, ldb, ordered.get(), A.n);
  if (!status.ok()) return status;
  if (!adjoint) solve_triangular(ops, A, false, nrhs, ordered.get(), A.n);
  return ops.rearrange({{ordered.get(), A.n, B, ldb, A.n, nrhs}});
}

template <class T>
Status solve(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, T* B, int64_t ldb) {
  Status status = solve_half(ops, A, false, nrhs, B, ldb);
  if (status.ok()) status = apply_signs(ops, A, nrhs, B, ldb);
  return status.ok() ? solve_half(ops, A, true, nrhs, B, ldb) : status;
}

template <class T>
double logdet(const Matrix<T>& A, int* sign) {
  double sum = 0;
  *sign = 1;
  for (int64_t k = 0; k < A.tiles; ++k) {
    const int64_t n = A.rows(k);
    const T* const L = A.diagonal[k].get();
    const auto l = [&](int64_t i, int64_t j) { return std::complex<double>(L[i + j * n]); };
    for (int64_t j = 0; j < n; ++j) {
      std::complex<double> pivot = l(j, j);
      if (j + 1 < n && l(j, j + 1) != 0.0) {  // of order 2
        pivot = pivot * l(j + 1, j + 1) - l(j + 1, j) * l(j, j + 1);
        ++j;
      }
      sum += std::log(std::abs(pivot));
    }
  }
  for (const auto& signs : A.signs)
    for (const RealOf<T> element : signs)
      if (element < 0) *sign = -*sign;
  return 2 * sum;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                            \
  template Status multiply<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, const T*, int64_t, \
                              T*, int64_t);                                                       \
  template Status multiply_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t,         \
                                   const T*, int64_t, T*, int64_t);                               \
  template Status solve<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, T*, int64_t);         \
  template Status solve_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t, T*,        \
                                int64_t);                                                         \
  template double logdet<T>(const Matrix<T>&, int*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
