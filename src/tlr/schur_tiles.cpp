#include "tlr/schur_tiles.hpp"

#include <algorithm>

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
SchurTiles<T>::SchurTiles(backend::TileOps<T>& ops, const Matrix<T>& M, const Samples<T>& samples,
                          const Widths& widths, int64_t k, const RightTiles<T>& right,
                          bool samples_columns, std::vector<int64_t> rows)
    : ops_(ops),
      M_(M),
      samples_(samples),
      widths_(widths),
      k_(k),
      finished_(k),
      right_(right),
      samples_columns_(samples_columns),
      X_(static_cast<size_t>(k)) {
  for (const int64_t index : rows) rows_.push_back({index, {}, {}, {}, {}});
}

template <class T>
void SchurTiles<T>::prepare(int64_t most_columns) {
  if (most_columns <= prepared_) return;
  backend::ProductGroups<T> groups;
  for (int64_t j = 0; j < k_; ++j) {
    const int64_t width = M_.width(k_, j), rows = M_.rows(k_);
    Buffer<T> larger = ops_.buffer(width * most_columns);
    ops_.copy(X_[j].get(), width * prepared_, larger.get());
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
void SchurTiles<T>::add_cores(Row& row, int64_t from, int64_t to, backend::ProductSteps<T>& steps) {
  if (row.from == from && row.to == to) return;
  row.from = from;
  row.to = to;
  row.core.assign(static_cast<size_t>(k_), -1);
  const auto both = [&](int64_t j) { return !M_.at(row.index, j).dense && !right_.at(j).dense; };
  int64_t elements = 0;
  for (int64_t j = from; j < to; ++j) {
    if (!both(j)) continue;
    row.core[j] = elements;
    elements += M_.at(row.index, j).rank * right_.at(j).rank;
  }
  row.cores = ops_.buffer(elements);
  for (int64_t j = from; j < to; ++j) {
    if (!both(j)) continue;
    const Tile<T>& left = M_.at(row.index, j);
    const TileView<T>& right = right_.at(j);
    const int64_t columns = M_.rows(j);
    steps.add(0, {true, false, 0, left.rank, right.rank, columns, left.V.get(), columns, right.V,
                  columns, row.cores.get() + row.core[j], left.rank});
  }
}

template <class T>
const T* SchurTiles<T>::core_times(const Row& row, int64_t j, const T* X, int64_t ldx,
                                   bool adjoint_x, int64_t n, T* Z, int64_t* ldz,
                                   backend::ProductSteps<T>& steps) const {
  const Tile<T>& left = M_.at(row.index, j);
  const TileView<T>& right = right_.at(j);
  const int64_t columns = M_.rows(j);
  *ldz = left.dense ? columns : left.rank;
  if (row.core[j] >= 0)
    steps.add(1, {false, adjoint_x, 0, left.rank, n, right.rank, row.cores.get() + row.core[j],
                  left.rank, X, ldx, Z, *ldz});
  else if (!left.dense)
    steps.add(1,
              {true, adjoint_x, 0, left.rank, n, columns, left.V.get(), columns, X, ldx, Z, *ldz});
  else if (!right.dense)
    steps.add(1, {false, adjoint_x, 0, columns, n, right.rank, right.V, columns, X, ldx, Z, *ldz});
  else
    return nullptr;
  return Z;
}

template <class T>
void SchurTiles<T>::sample(int64_t i, int64_t from, int64_t to, T* Y,
                           backend::ProductSteps<T>& steps) {
  Row& row = rows_[i];
  const int64_t n = to - from, rows = M_.rows(row.index), columns = M_.rows(k_);
  const Tile<T>& own = M_.at(row.index, k_);
  row.of_samples = ops_.buffer((sum_of_widths(row.index) + own.rank) * n);
  T* Z = row.of_samples.get();
  backend::ProductGroups<T>& sums = steps[2];
  sums.begin_group();
  if (own.dense) {
    sums.add({false, false, 0, rows, n, columns, own.U.get(), rows, samples_.column(from),
              samples_.rows(), Y, rows});
  } else {
    steps.add(0, {true, false, 0, own.rank, n, columns, own.V.get(), columns, samples_.column(from),
                  samples_.rows(), Z, own.rank});
    sums.add({false, false, 0, rows, n, own.rank, own.U.get(), rows, Z, own.rank, Y, rows});
    Z += own.rank * n;
  }
  add_cores(row, 0, k_, steps);
  for (int64_t j = 0; j < k_; ++j) {
    if (!has_term(row.index, j)) continue;
    const int64_t width = M_.width(k_, j);
    const T* const X = X_[j].get() + width * from;
    int64_t ldz;
    const T* product = core_times(row, j, X, width, false, n, Z, &ldz, steps);
    if (!product) product = X;
    sums.add(
        {false, false, -1, rows, n, ldz, M_.at(row.index, j).U.get(), rows, product, ldz, Y, rows});
    Z += M_.width(row.index, j) * n;
  }
}

template <class T>
void SchurTiles<T>::project(int64_t i, const T* Q, int64_t ldq, int64_t n, T* B,
                            backend::ProductSteps<T>& steps) {
  Row& row = rows_[i];
  const int64_t rows = M_.rows(row.index), columns = M_.rows(k_);
  const Tile<T>& own = M_.at(row.index, k_);
  row.of_projection = ops_.buffer((sum_of_widths(row.index) + sum_of_widths(k_) + own.rank) * n);
  T* free = row.of_projection.get();
  backend::ProductGroups<T>& sums = steps[2];
  sums.begin_group();
  if (own.dense) {
    sums.add({true, false, 0, columns, n, rows, own.U.get(), rows, Q, ldq, B, columns});
  } else {
    steps.add(0, {true, false, 0, own.rank, n, rows, own.U.get(), rows, Q, ldq, free, own.rank});
    sums.add(
        {false, false, 0, columns, n, own.rank, own.V.get(), columns, free, own.rank, B, columns});
    free += own.rank * n;
  }
  add_cores(row, 0, k_, steps);
  for (int64_t j = 0; j < k_; ++j) {
    if (!has_term(row.index, j)) continue;
    const Tile<T>& left = M_.at(row.index, j);
    const TileView<T>& right = right_.at(j);
    const int64_t width = M_.width(row.index, j), height = M_.width(k_, j), inner = M_.rows(j);
    T *const F = free, *const H = F + width * n;
    free = H + height * n;
    steps.add(0, {true, false, 0, width, n, rows, left.U.get(), rows, Q, ldq, F, width});
    const T* product = H;
    if (row.core[j] >= 0)
      steps.add(1, {true, false, 0, height, n, width, row.cores.get() + row.core[j], width, F,
                    width, H, height});
    else if (!right.dense)
      steps.add(1, {true, false, 0, height, n, inner, right.V, inner, F, width, H, height});
    else if (!left.dense)
      steps.add(1, {false, false, 0, height, n, width, left.V.get(), inner, F, width, H, height});
    else
      product = F;
    sums.add({false, false, -1, columns, n, height, right.U, columns, product, height, B, columns});
  }
}

template <class T>
backend::LowRank<T> SchurTiles<T>::low_rank(int64_t j) {
  const TileView<T>& tile = right_.at(j);
  if (!tile.dense) return {tile.U, tile.V, tile.rank};
  const int64_t n = M_.tile;
  if (!identity_.get()) {
    identity_ = ops_.buffer(n * n);
    ops_.set_zero(identity_.get(), n * n);
    ops_.add_to_diagonal(identity_.get(), n, 1);
  }
  if (!M_.is_ldl() || M_.signs[j].empty()) return {tile.U, identity_.get(), n};
  // The signs are applied to V, since the finished columns contain L_kj.
  signs_.push_back(ops_.buffer(n * n));
  backend::Rearrangement<T> item{identity_.get(), n, signs_.back().get(), n, n, n};
  item.row_signs = M_.signs[j].data();
  ops_.rearrange({item});
  return {M_.at(k_, j).U.get(), signs_.back().get(), n};
}

template <class T>
double SchurTiles<T>::sample_all(const std::vector<typename Operators<T>::Wanted>& list) {
  return samples_columns_ ? sample_terms(list, 0, finished_) : -1;
}

template <class T>
double SchurTiles<T>::sample_rest(const std::vector<typename Operators<T>::Wanted>& list) {
  if (finished_ == k_) return 0;
  const int64_t from = finished_;
  finished_ = k_;
  return sample_terms(list, from, k_);
}

template <class T>
double SchurTiles<T>::sample_terms(const std::vector<typename Operators<T>::Wanted>& list,
                                   int64_t from, int64_t to) {
  backend::ColumnSamples<T> column{};
  column.k = k_;
  column.from = from;
  column.to = to;
  column.tile = M_.tile;
  column.order = M_.rows(k_);
  column.omega = samples_.column(0);
  column.psi = samples_.left();
  column.ld = samples_.rows();
  for (int64_t j = from; j < to; ++j) column.right.push_back(low_rank(j));
  double flops = 0;
  const double of_right = double(widths_.sum(k_, from, to));
  for (const auto& wanted : list) {
    const int64_t i = rows_[wanted.i].index;
    const Tile<T>& own = M_.at(i, k_);
    column.rows.push_back({i,
                           {own.U.get(), own.V.get(), own.rank},
                           M_.rows(i),
                           wanted.samples,
                           wanted.left_samples,
                           wanted.Y,
                           wanted.X});
    const double samples = double(wanted.samples), left = double(wanted.left_samples);
    flops += 2 * double(widths_.inner(i, k_, from, to)) * (double(M_.tile) + samples + left) +
             2 * double(M_.rows(i)) * double(widths_.sum(i, from, to)) * samples +
             2 * double(column.order) * of_right * left;
  }
  ops_.sample_column(column);
  return flops * flop_factor<T>;
}

template <class T>
void SchurTiles<T>::expand(int64_t i, T* D, backend::ProductSteps<T>& steps) {
  const Row& row = rows_[i];
  const int64_t rows = M_.rows(row.index), columns = M_.rows(k_);
  const Tile<T>& own = M_.at(row.index, k_);
  backend::ProductGroups<T>& sums = steps[2];
  sums.begin_group();
  if (own.dense)
    ops_.copy(own.U.get(), rows * columns, D);
  else
    sums.add({false, true, 0, rows, columns, own.rank, own.U.get(), rows, own.V.get(), columns, D,
              rows});
  add_terms(rows_[i], 0, finished_, D, steps);
}

template <class T>
void SchurTiles<T>::expand_rest(int64_t i, T* D, backend::ProductSteps<T>& steps) {
  steps[2].begin_group();
  add_terms(rows_[i], finished_, k_, D, steps);
}

template <class T>
void SchurTiles<T>::add_terms(Row& row, int64_t from, int64_t to, T* D,
                              backend::ProductSteps<T>& steps) {
  const int64_t rows = M_.rows(row.index), columns = M_.rows(k_);
  row.of_samples = ops_.buffer(widths_.sum(row.index, from, to) * columns);
  T* free = row.of_samples.get();
  add_cores(row, from, to, steps);
  for (int64_t j = from; j < to; ++j) {
    if (!has_term(row.index, j)) continue;
    const T* const U = M_.at(row.index, j).U.get();
    const T* const right = right_.at(j).U;
    int64_t ldz;
    const T* Z = core_times(row, j, right, columns, true, columns, free, &ldz, steps);
    steps[2].add({false, Z == nullptr, -1, rows, columns, ldz, U, rows, Z ? Z : right,
                  Z ? ldz : columns, D, rows});
    free += M_.width(row.index, j) * columns;
  }
}

#define CHOL_INSTANTIATE(prefix, T, R) template class SchurTiles<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
