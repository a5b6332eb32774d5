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

}  // namespace

template <class T>
void multiply_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                   const T* X, int64_t ldx, T* Y, int64_t ldy) {
  multiply_part(ops, A, {!adjoint, adjoint, adjoint}, nrhs, X, ldx, Y, ldy);
}

template <class T>
void multiply(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, const T* X, int64_t ldx,
              T* Y, int64_t ldy) {
  if (A.state != State::factored)
    return multiply_part(ops, A, {true, true, false}, nrhs, X, ldx, Y, ldy);
  Buffer<T> half(A.n * nrhs);
  multiply_half(ops, A, true, nrhs, X, ldx, half.get(), A.n);
  multiply_half(ops, A, false, nrhs, half.get(), A.n, Y, ldy);
}

template <class T>
void solve_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs, T* B,
                int64_t ldb) {
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

template <class T>
double logdet(const Matrix<T>& A) {
  double sum = 0;
  for (int64_t i = 0; i < A.tiles; ++i)
    for (int64_t j = 0; j < A.rows(i); ++j)
      sum += std::log(double(std::real(A.diagonal[i].get()[j + j * A.rows(i)])));
  return 2 * sum;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                             \
  template void multiply<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, const T*, int64_t,    \
                            T*, int64_t);                                                          \
  template void multiply_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t, const T*,  \
                                 int64_t, T*, int64_t);                                            \
  template void solve_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t, T*, int64_t); \
  template double logdet<T>(const Matrix<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
