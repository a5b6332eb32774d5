#include "tlr/schur_tiles.hpp"

#include <algorithm>

#include "api/precisions.h"

namespace chol::tlr {

template <class T>
SchurTiles<T>::SchurTiles(backend::TileOps<T>& ops, const Matrix<T>& M, const Samples<T>& samples,
                          int64_t k, const RightTiles<T>& right, std::vector<int64_t> rows)
    : ops_(ops), M_(M), samples_(samples), k_(k), right_(right), X_(static_cast<size_t>(k)) {
  for (const int64_t index : rows) {
    Row row{index, std::vector<int64_t>(static_cast<size_t>(k), -1), {}, {}};
    int64_t elements = 0;
    for (int64_t j = 0; j < k; ++j) {
      const Tile<T>&left = M.at(index, j), &right = M.at(k, j);
      if (left.dense || right.dense) continue;
      row.core[j] = elements;
      elements += left.rank * right.rank;
    }
    row.cores = Buffer<T>(elements);
    rows_.push_back(std::move(row));
  }
}

template <class T>
int64_t SchurTiles<T>::elements(const Matrix<T>& M, int64_t i, int64_t k, int64_t samples) {
  int64_t cores = 0, widest = 0;
  for (int64_t j = 0; j < k; ++j) {
    if (!M.at(i, j).dense && !M.at(k, j).dense) cores += M.at(i, j).rank * M.at(k, j).rank;
    widest = std::max({widest, M.width(i, j), M.width(k, j)});
  }
  return cores + samples * (2 * widest + 2 * M.rows(i) + 2 * M.rows(k) + 6 * samples);
}

template <class T>
void SchurTiles<T>::prepare(int64_t most_columns) {
  if (most_columns <= prepared_) return;
  backend::ProductGroups<T> groups;
  for (int64_t j = 0; j < k_; ++j) {
    const int64_t width = M_.width(k_, j), rows = M_.rows(k_);
    Buffer<T> larger(width * most_columns);
    std::copy_n(X_[j].get(), width * prepared_, larger.get());
    X_[j] = std::move(larger);
    groups.begin_group();
    groups.add({true, false, 0, width, most_columns - prepared_, rows, right_.at(j).U, rows,
                samples_.column(prepared_), samples_.rows(), X_[j].get() + width * prepared_,
                width});
  }
  ops_.multiply(groups);
  prepared_ = most_columns;
}

template <class T>
void SchurTiles<T>::add_cores(Row& row, backend::ProductGroups<T>& groups) {
  if (row.has_cores) return;
  row.has_cores = true;
  for (int64_t j = 0; j < k_; ++j) {
    if (row.core[j] < 0) continue;
    const Tile<T>& left = M_.at(row.index, j);
    const TileView<T>& right = right_.at(j);
    const int64_t columns = M_.rows(j);
    groups.add({true, false, 0, left.rank, right.rank, columns, left.V.get(), columns, right.V,
                columns, row.cores.get() + row.core[j], left.rank});
  }
}

template <class T>
const T* SchurTiles<T>::core_times(const Row& row, int64_t j, const T* X, int64_t ldx,
                                   bool adjoint_x, int64_t n, T* Z, int64_t* ldz,
                                   backend::ProductGroups<T>& groups) const {
  const Tile<T>& left = M_.at(row.index, j);
  const TileView<T>& right = right_.at(j);
  const int64_t columns = M_.rows(j);
  *ldz = left.dense ? columns : left.rank;
  if (row.core[j] >= 0)
    groups.add({false, adjoint_x, 0, left.rank, n, right.rank, row.cores.get() + row.core[j],
                left.rank, X, ldx, Z, *ldz});
  else if (!left.dense)
    groups.add({true, adjoint_x, 0, left.rank, n, columns, left.V.get(), columns, X, ldx, Z, *ldz});
  else if (!right.dense)
    groups.add({false, adjoint_x, 0, columns, n, right.rank, right.V, columns, X, ldx, Z, *ldz});
  else
    return nullptr;
  return Z;
}

template <class T>
void SchurTiles<T>::sample(int64_t i, int64_t from, int64_t to, T* Y,
                           backend::ProductGroups<T>& groups) {
  Row& row = rows_[i];
  const int64_t n = to - from, rows = M_.rows(row.index), columns = M_.rows(k_);
  int64_t widest = M_.width(row.index, k_);
  for (int64_t j = 0; j < k_; ++j) widest = std::max(widest, M_.width(row.index, j));
  row.scratch.reserve(widest * n);
  T* const Z = row.scratch.get();
  groups.begin_group();
  const Tile<T>& own = M_.at(row.index, k_);
  if (own.dense) {
    groups.add({false, false, 0, rows, n, columns, own.U.get(), rows, samples_.column(from),
                samples_.rows(), Y, rows});
  } else {
    groups.add({true, false, 0, own.rank, n, columns, own.V.get(), columns, samples_.column(from),
                samples_.rows(), Z, own.rank});
    groups.add({false, false, 0, rows, n, own.rank, own.U.get(), rows, Z, own.rank, Y, rows});
  }
  add_cores(row, groups);
  for (int64_t j = 0; j < k_; ++j) {
    const int64_t width = M_.width(k_, j);
    if (width == 0 || M_.width(row.index, j) == 0) continue;
    const T* const X = X_[j].get() + width * from;
    int64_t ldz;
    const T* product = core_times(row, j, X, width, false, n, Z, &ldz, groups);
    if (!product) product = X;
    groups.add(
        {false, false, -1, rows, n, ldz, M_.at(row.index, j).U.get(), rows, product, ldz, Y, rows});
  }
}

template <class T>
void SchurTiles<T>::project(int64_t i, const T* Q, int64_t n, T* B,
                            backend::ProductGroups<T>& groups) {
  Row& row = rows_[i];
  const int64_t rows = M_.rows(row.index), columns = M_.rows(k_);
  int64_t widest = M_.width(row.index, k_);
  for (int64_t j = 0; j < k_; ++j)
    widest = std::max({widest, M_.width(row.index, j), M_.width(k_, j)});
  row.scratch.reserve(2 * widest * n);
  T *const F = row.scratch.get(), *const H = F + widest * n;
  groups.begin_group();
  const Tile<T>& own = M_.at(row.index, k_);
  if (own.dense) {
    groups.add({true, false, 0, columns, n, rows, own.U.get(), rows, Q, rows, B, columns});
  } else {
    groups.add({true, false, 0, own.rank, n, rows, own.U.get(), rows, Q, rows, F, own.rank});
    groups.add(
        {false, false, 0, columns, n, own.rank, own.V.get(), columns, F, own.rank, B, columns});
  }
  for (int64_t j = 0; j < k_; ++j) {
    const Tile<T>& left = M_.at(row.index, j);
    const TileView<T>& right = right_.at(j);
    const int64_t width = M_.width(row.index, j), height = M_.width(k_, j), inner = M_.rows(j);
    if (width == 0 || height == 0) continue;
    groups.add({true, false, 0, width, n, rows, left.U.get(), rows, Q, rows, F, width});
    const T* product = H;
    if (row.core[j] >= 0)
      groups.add({true, false, 0, height, n, width, row.cores.get() + row.core[j], width, F, width,
                  H, height});
    else if (!right.dense)
      groups.add({true, false, 0, height, n, inner, right.V, inner, F, width, H, height});
    else if (!left.dense)
      groups.add({false, false, 0, height, n, width, left.V.get(), inner, F, width, H, height});
    else
      product = F;
    groups.add(
        {false, false, -1, columns, n, height, right.U, columns, product, height, B, columns});
  }
}

template <class T>
void SchurTiles<T>::expand(int64_t i, T* D, backend::ProductGroups<T>& groups) {
  Row& row = rows_[i];
  const int64_t rows = M_.rows(row.index), columns = M_.rows(k_);
  int64_t widest = 0;
  for (int64_t j = 0; j < k_; ++j) widest = std::max(widest, M_.width(row.index, j));
  row.scratch.reserve(widest * columns);
  groups.begin_group();
  const Tile<T>& own = M_.at(row.index, k_);
  if (own.dense)
    std::copy_n(own.U.get(), rows * columns, D);
  else
    groups.add({false, true, 0, rows, columns, own.rank, own.U.get(), rows, own.V.get(), columns, D,
                rows});
  add_cores(row, groups);
  for (int64_t j = 0; j < k_; ++j) {
    if (M_.width(row.index, j) == 0 || M_.width(k_, j) == 0) continue;
    const T* const U = M_.at(row.index, j).U.get();
    const T* const right = right_.at(j).U;
    int64_t ldz;
    const T* Z = core_times(row, j, right, columns, true, columns, row.scratch.get(), &ldz, groups);
    groups.add({false, Z == nullptr, -1, rows, columns, ldz, U, rows, Z ? Z : right,
                Z ? ldz : columns, D, rows});
  }
}

#define CHOL_INSTANTIATE(prefix, T, R) template class SchurTiles<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
