#include "tlr/apply.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/precisions.h"
#include "tlr/stage_inverses.hpp"

namespace chol::tlr {
namespace {

/// Number of right-hand sides processed together.
constexpr int64_t kColumns = 64;

/// Y := Y + sign * op(tile) * X, where op is the identity or the adjoint, as a product of the last
/// group of `sums`. The product with the inner factor is added to `inner`; its result uses rank by
/// n elements at Z.
template <class T>
void add_tile(const Tile<T>& tile, int64_t rows, int64_t columns, bool adjoint, int sign, int64_t n,
              const T* X, int64_t ldx, T* Y, int64_t ldy, T* Z, backend::ProductGroups<T>& inner,
              backend::ProductGroups<T>& sums) {
  if (tile.dense) {
    sums.add({adjoint, false, sign, adjoint ? columns : rows, n, adjoint ? rows : columns,
              tile.U.get(), rows, X, ldx, Y, ldy});
    return;
  }
  if (tile.rank == 0) return;
  const T *left = tile.U.get(), *right = tile.V.get();
  if (adjoint) {
    std::swap(left, right);
    std::swap(rows, columns);
  }
  inner.begin_group();
  inner.add({true, false, 0, tile.rank, n, columns, right, columns, X, ldx, Z, tile.rank});
  sums.add({false, false, sign, rows, n, tile.rank, left, rows, Z, tile.rank, Y, ldy});
}

/// Selects the tiles of a product.
struct Part {
  bool lower, upper, adjoint_diagonal;
};

template <class T>
void multiply_columns(backend::TileOps<T>& ops, const Matrix<T>& A, Part part, int64_t n,
                      const T* X, int64_t ldx, T* Y, int64_t ldy) {
  int64_t ranks = 0;
  for (const Tile<T>& tile : A.lower) ranks += tile.rank;
  Buffer<T> scratch = ops.buffer(ranks * n * (int{part.lower} + int{part.upper}));
  T* Z = scratch.get();
  backend::ProductSteps<T> steps;
  for (int64_t i = 0; i < A.tiles; ++i) {
    const int64_t rows = A.rows(i);
    T* const to = Y + A.start(i);
    steps[1].begin_group();
    steps[1].add({part.adjoint_diagonal, false, 0, rows, n, rows, A.diagonal[i].get(), rows,
                  X + A.start(i), ldx, to, ldy});
    for (int64_t j = 0; part.lower && j < i; ++j) {
      add_tile(A.at(i, j), rows, A.rows(j), false, 1, n, X + A.start(j), ldx, to, ldy, Z, steps[0],
               steps[1]);
      Z += A.at(i, j).rank * n;
    }
    for (int64_t j = i + 1; part.upper && j < A.tiles; ++j) {
      add_tile(A.at(j, i), A.rows(j), rows, true, 1, n, X + A.start(j), ldx, to, ldy, Z, steps[0],
               steps[1]);
      Z += A.at(j, i).rank * n;
    }
  }
  ops.multiply(steps);
}

/// The tiles of A in the form that sweeps read.
template <class T>
backend::LowerTiles<T> lower_tiles(const Matrix<T>& A) {
  backend::LowerTiles<T> L{A.tile, {}, {}, {}, A.is_ldl(), &A.plans};
  for (int64_t i = 0; i <= A.tiles; ++i) L.starts.push_back(i < A.tiles ? A.start(i) : A.n);
  L.tiles.reserve(A.lower.size());
  for (const Tile<T>& tile : A.lower)
    L.tiles.push_back({tile.U.get(), tile.V.get(), tile.dense ? -1 : tile.rank});
  for (const Buffer<T>& inverse : A.inverses) L.inverses.push_back(inverse.get());
  return L;
}

/// Combines as many block rows in a stage as the operations request; the inverses are kept in A.
template <class T>
void make_stages(backend::TileOps<T>& ops, const Matrix<T>& A, backend::LowerTiles<T>& L) {
  L.stage = ops.stage(L);
  if (L.stage < 2) return;
  const int64_t count = (A.tiles + L.stage - 1) / L.stage;
  if (std::ssize(A.stage_inverses) != count) A.stage_inverses = stage_inverses(ops, L, L.stage);
  for (const Buffer<T>& inverse : A.stage_inverses) L.stage_inverses.push_back(inverse.get());
}

template <class T>
void sweep_part(backend::TileOps<T>& ops, const Matrix<T>& A, Part part, int64_t n, const T* X,
                int64_t ldx, T* Y, int64_t ldy) {
  multiply_columns(ops, A, {false, false, part.adjoint_diagonal}, n, X, ldx, Y, ldy);
  const backend::LowerTiles<T> L = lower_tiles(A);
  if (part.lower) ops.add_all(L, false, n, X, ldx, Y, ldy);
  if (part.upper) ops.add_all(L, true, n, X, ldx, Y, ldy);
}

template <class T>
void multiply_part(backend::TileOps<T>& ops, const Matrix<T>& A, Part part, int64_t n, const T* X,
                   int64_t ldx, T* Y, int64_t ldy) {
  if (ops.has_sweeps(backend::TileOps<T>::Sweep::add, A.tile, n))
    return sweep_part(ops, A, part, n, X, ldx, Y, ldy);
  for (int64_t c = 0; c < n; c += kColumns)
    multiply_columns(ops, A, part, std::min(kColumns, n - c), X + c * ldx, ldx, Y + c * ldy, ldy);
}

/// Y := P X or P^T X. Y and X must not overlap.
template <class T>
void permute(backend::TileOps<T>& ops, const Matrix<T>& A, bool back, int64_t nrhs, const T* X,
             int64_t ldx, T* Y, int64_t ldy) {
  std::vector<int64_t> order = A.permutation;
  if (back)
    for (int64_t i = 0; i < A.n; ++i) order[A.permutation[i]] = i;
  backend::Rearrangement<T> item{X, ldx, Y, ldy, A.n, nrhs};
  item.row_order = order.data();
  ops.rearrange({item});
}

/// X := D X.
template <class T>
void apply_signs(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, T* X, int64_t ldx) {
  std::vector<backend::Rearrangement<T>> list;
  for (int64_t i = 0; i < std::ssize(A.signs); ++i) {
    if (A.signs[i].empty()) continue;
    T* const x = X + A.start(i);
    list.push_back({x, ldx, x, ldx, A.rows(i), nrhs});
    list.back().row_signs = A.signs[i].data();
  }
  if (!list.empty()) ops.rearrange(list);
}

template <class T>
void solve_triangular(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                      T* B, int64_t ldb) {
  if (ops.has_sweeps(backend::TileOps<T>::Sweep::solve, A.tile, nrhs)) {
    backend::LowerTiles<T> L = lower_tiles(A);
    make_stages(ops, A, L);
    return ops.solve_all(L, adjoint, nrhs, B, ldb);
  }
  int64_t most = 0;
  for (const Tile<T>& tile : A.lower) most = std::max(most, tile.rank);
  Buffer<T> scratch = ops.buffer(A.tiles * most * nrhs);
  for (int64_t step = 0; step < A.tiles; ++step) {
    const int64_t k = adjoint ? A.tiles - 1 - step : step;
    T* const X = B + A.start(k);
    ops.solve(
        {{A.diagonal[k].get(), A.inverses[k].get(), A.rows(k), adjoint, X, nrhs, ldb, A.is_ldl()}});
    backend::ProductSteps<T> steps;
    const int64_t from = adjoint ? 0 : k + 1, to = adjoint ? k : A.tiles;
    for (int64_t i = from; i < to; ++i) {
      const int64_t row = std::max(i, k), column = std::min(i, k);
      steps[1].begin_group();
      add_tile(A.at(row, column), A.rows(row), A.rows(column), adjoint, -1, nrhs, X, ldb,
               B + A.start(i), ldb, scratch.get() + i * most * nrhs, steps[0], steps[1]);
    }
    ops.multiply(steps);
  }
}

}  // namespace

template <class T>
void multiply_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs,
                   const T* X, int64_t ldx, T* Y, int64_t ldy) {
  const Part part{!adjoint, adjoint, adjoint};
  if (A.permutation.empty() || nrhs == 0) return multiply_part(ops, A, part, nrhs, X, ldx, Y, ldy);
  const Buffer<T> ordered = ops.buffer(A.n * nrhs);
  if (adjoint) {
    permute(ops, A, false, nrhs, X, ldx, ordered.get(), A.n);
    multiply_part(ops, A, part, nrhs, ordered.get(), A.n, Y, ldy);
  } else {
    multiply_part(ops, A, part, nrhs, X, ldx, ordered.get(), A.n);
    permute(ops, A, true, nrhs, ordered.get(), A.n, Y, ldy);
  }
}

template <class T>
void multiply(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, const T* X, int64_t ldx,
              T* Y, int64_t ldy) {
  if (A.state != State::factored)
    return multiply_part(ops, A, {true, true, false}, nrhs, X, ldx, Y, ldy);
  const Buffer<T> half = ops.buffer(A.n * nrhs);
  multiply_half(ops, A, true, nrhs, X, ldx, half.get(), A.n);
  apply_signs(ops, A, nrhs, half.get(), A.n);
  multiply_half(ops, A, false, nrhs, half.get(), A.n, Y, ldy);
}

template <class T>
void solve_half(backend::TileOps<T>& ops, const Matrix<T>& A, bool adjoint, int64_t nrhs, T* B,
                int64_t ldb) {
  if (A.permutation.empty() || nrhs == 0) return solve_triangular(ops, A, adjoint, nrhs, B, ldb);
  const Buffer<T> ordered = ops.buffer(A.n * nrhs);
  if (adjoint) solve_triangular(ops, A, true, nrhs, B, ldb);
  permute(ops, A, adjoint, nrhs, B, ldb, ordered.get(), A.n);
  if (!adjoint) solve_triangular(ops, A, false, nrhs, ordered.get(), A.n);
  ops.copy({{false, A.n, nrhs, ordered.get(), A.n, B, ldb}});
}

template <class T>
void solve(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t nrhs, T* B, int64_t ldb) {
  solve_half(ops, A, false, nrhs, B, ldb);
  apply_signs(ops, A, nrhs, B, ldb);
  solve_half(ops, A, true, nrhs, B, ldb);
}

namespace {

/// The determinant of L for a tile of L D L^H with pivots of order 1 and 2.
template <class T>
double log_determinant(const T* L, int64_t n) {
  const auto l = [&](int64_t i, int64_t j) { return std::complex<double>(L[i + j * n]); };
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    std::complex<double> pivot = l(j, j);
    if (j + 1 < n && l(j, j + 1) != 0.0) {
      pivot = pivot * l(j + 1, j + 1) - l(j + 1, j) * l(j, j + 1);
      ++j;
    }
    sum += std::log(std::abs(pivot));
  }
  return sum;
}

}  // namespace

template <class T>
double logdet(backend::TileOps<T>& ops, const Matrix<T>& A, int* sign) {
  double sum = 0;
  *sign = 1;
  std::vector<RealOf<T>> diagonal(static_cast<size_t>(A.tile));
  std::vector<T> L(static_cast<size_t>(A.is_ldl() ? A.tile * A.tile : 0));
  for (int64_t i = 0; i < A.tiles; ++i) {
    const int64_t n = A.rows(i);
    if (A.is_ldl()) {
      ops.transfer(n, n, A.diagonal[i].get(), n, L.data(), n);
      sum += log_determinant(L.data(), n);
      for (const RealOf<T> element : A.signs[i])
        if (element < 0) *sign = -*sign;
      continue;
    }
    ops.read_diagonal(A.diagonal[i].get(), n, diagonal.data());
    for (int64_t j = 0; j < n; ++j) sum += std::log(double(diagonal[j]));
  }
  return 2 * sum;
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                             \
  template void multiply<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, const T*, int64_t,    \
                            T*, int64_t);                                                          \
  template void multiply_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t, const T*,  \
                                 int64_t, T*, int64_t);                                            \
  template void solve<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, T*, int64_t);            \
  template void solve_half<T>(backend::TileOps<T>&, const Matrix<T>&, bool, int64_t, T*, int64_t); \
  template double logdet<T>(backend::TileOps<T>&, const Matrix<T>&, int*);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
