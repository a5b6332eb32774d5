#include "tlr/describe.hpp"

#include <algorithm>
#include <complex>

#include "base/precisions.h"

namespace chol::tlr {
template <class T>
void describe(const Matrix<T>& A, chol_tlr_stats_t& stats) {
  const size_t size = stats.size;
  stats = {};
  stats.size = size;
  stats.type = static_cast<chol_type_t>(precision_letter<T>);
  stats.factored = A.state == State::factored;
  stats.ldl = A.is_ldl();
  stats.n = A.n;
  stats.tile = A.tile;
  stats.tiles = A.tiles;
  stats.eps = A.eps;
  stats.shift = A.shift;
  stats.flops = A.flops;
  stats.compensated = A.compensated;
  stats.modified = A.modified;
  for (const Buffer<T>& D : A.diagonal) stats.dense_bytes += sizeof(T) * size_t(D.count());
  stats.bytes = stats.dense_bytes;
  for (const Buffer<T>& X : A.inverses) stats.inverse_bytes += sizeof(T) * size_t(X.count());
  for (const Buffer<T>& X : A.stage_inverses) stats.inverse_bytes += sizeof(T) * size_t(X.count());
  if (A.lower.empty() || (A.state != State::assembled && A.state != State::factored)) return;
  double sum = 0;
  Matrix<T>::for_each_tile(
      A, [](int64_t) {},
      [&](int64_t i, int64_t j, const Tile<T>& tile) {
        const size_t bytes = sizeof(T) * size_t(tile.U.count() + tile.V.count());
        stats.bytes += bytes;
        sum += double(A.rank(i, j));
        if (tile.dense) {
          stats.dense_bytes += bytes;
          ++stats.dense_tiles;
        } else {
          stats.max_rank = std::max(stats.max_rank, tile.rank);
        }
      });
  stats.projected_tiles = count_tiles(A).projection;
  stats.mean_rank = sum / double(A.lower.size());
}

template <class T>
TileCounts count_tiles(const Matrix<T>& A) {
  TileCounts counts;
  for (const Tile<T>& tile : A.lower)
    ++(tile.dense ? counts.dense : tile.projected ? counts.projection : counts.nystrom);
  return counts;
}

template <class T>
void write_ranks(const Matrix<T>& A, int64_t* ranks) {
  Matrix<T>::for_each_tile(
      A, [&](int64_t i) { ranks[i + i * A.tiles] = -1; },
      [&](int64_t i, int64_t j, const Tile<T>&) { ranks[i + j * A.tiles] = A.rank(i, j); });
}

template <class T>
std::unique_ptr<Matrix<T>> copy_of(backend::TileOps<T>& ops, const Matrix<T>& A) {
  const auto copy_of_buffer = [&ops](const Buffer<T>& buffer) {
    Buffer<T> copy = ops.buffer(buffer.count());
    ops.copy(buffer.get(), buffer.count(), copy.get());
    return copy;
  };
  auto copy = std::make_unique<Matrix<T>>(A.n, A.tile);
  static_cast<Properties&>(*copy) = A;
  copy->state = A.state;
  copy->signs = A.signs;
  copy->permutation = A.permutation;
  if (A.state != State::assembled && A.state != State::factored) return copy;
  copy->lower.resize(A.lower.size());
  for (size_t t = 0; t < A.lower.size(); ++t) {
    const Tile<T>& from = A.lower[t];
    copy->lower[t] = {from.dense, from.rank, copy_of_buffer(from.U), copy_of_buffer(from.V),
                      from.projected};
  }
  for (const Buffer<T>& D : A.diagonal) copy->diagonal.push_back(copy_of_buffer(D));
  for (const Buffer<T>& X : A.inverses) copy->inverses.push_back(copy_of_buffer(X));
  return copy;
}

template <class T>
void expand_tile(backend::TileOps<T>& ops, const Matrix<T>& A, int64_t i, int64_t j, T* block,
                 int64_t ldb) {
  const int64_t rows = A.rows(i), columns = A.rows(j);
  const int64_t row = std::max(i, j), column = std::min(i, j);
  if (i == j) {
    ops.transfer(rows, columns, A.diagonal[i].get(), rows, block, ldb);
    return;
  }
  const Tile<T>& tile = A.at(row, column);
  Buffer<T> expanded = ops.buffer(rows * columns);
  T* const D = expanded.get();
  if (i < j && A.state == State::factored) {
    ops.set_zero(D, rows * columns);
  } else if (tile.dense) {
    ops.copy({{i < j, A.rows(row), A.rows(column), tile.U.get(), A.rows(row), D, rows}});
  } else {
    const T *left = tile.U.get(), *right = tile.V.get();
    if (i < j) std::swap(left, right);
    backend::ProductGroups<T> groups;
    groups.begin_group();
    groups.add({false, true, 0, rows, columns, tile.rank, left, rows, right, columns, D, rows});
    ops.multiply(groups);
  }
  ops.transfer(rows, columns, D, rows, block, ldb);
}

template <class T>
void invert_diagonal(backend::TileOps<T>& ops, Matrix<T>& A) {
  if (A.state != State::factored) return;
  A.inverses.clear();
  for (int64_t i = 0; i < A.tiles; ++i) {
    A.inverses.push_back(ops.buffer(ops.inverse_elements(A.rows(i))));
    ops.invert_blocks(A.diagonal[i].get(), A.rows(i), A.inverses[i].get(), A.is_ldl());
  }
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                       \
  template void describe<T>(const Matrix<T>&, chol_tlr_stats_t&);                            \
  template TileCounts count_tiles<T>(const Matrix<T>&);                                      \
  template void write_ranks<T>(const Matrix<T>&, int64_t*);                                  \
  template std::unique_ptr<Matrix<T>> copy_of<T>(backend::TileOps<T>&, const Matrix<T>&);    \
  template void expand_tile<T>(backend::TileOps<T>&, const Matrix<T>&, int64_t, int64_t, T*, \
                               int64_t);                                                     \
  template void invert_diagonal<T>(backend::TileOps<T>&, Matrix<T>&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
