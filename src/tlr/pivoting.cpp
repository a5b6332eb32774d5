#include "tlr/pivoting.hpp"

#include <algorithm>
#include <numeric>

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
TilePivoting<T>::TilePivoting(backend::TileOps<T>& ops, Matrix<T>& A,
                              const chol_tlr_options_t& options)
    : ops_(ops),
      A_(A),
      options_(options),
      tile_order_(static_cast<size_t>(A.tiles)),
      row_orders_(static_cast<size_t>(A.tiles)) {
  std::iota(tile_order_.begin(), tile_order_.end(), int64_t{0});
}

template <class T>
std::vector<double> TilePivoting<T>::two_norms(int64_t k) {
  constexpr int kSteps = 6;
  const int64_t count = A_.tiles - k, tile = A_.tile;
  const Buffer<T> memory = ops_.buffer(2 * count * tile);
  T *x = memory.get(), *y = x + count * tile;
  ops_.random(x, count * tile, options_.seed + 2);
  std::vector<double> lengths(static_cast<size_t>(count), 1), norms(lengths);
  for (int step = 0; step <= kSteps; ++step) {
    // Norms of x, and y := D x.
    std::vector<backend::Norm<T>> list;
    backend::ProductGroups<T> groups;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t n = A_.rows(k + i);
      list.push_back({x + i * tile, n, 0});
      groups.begin_group();
      groups.add({false, false, 0, n, 1, n, A_.diagonal[k + i].get(), n, x + i * tile, n,
                  y + i * tile, n});
    }
    ops_.norms(list);
    for (int64_t i = 0; i < count; ++i) {
      norms[i] = lengths[i] > 0 ? list[i].norm / lengths[i] : 0;
      lengths[i] = list[i].norm;
    }
    ops_.multiply(groups);
    std::swap(x, y);
  }
  return norms;
}

template <class T>
int64_t TilePivoting<T>::find_largest(int64_t k) {
  std::vector<double> norms;
  if (options_.pivot == 2) {
    norms = two_norms(k);
  } else {
    std::vector<backend::Norm<T>> list;
    for (int64_t i = k; i < A_.tiles; ++i)
      list.push_back({A_.diagonal[i].get(), A_.rows(i) * A_.rows(i), 0});
    ops_.norms(list);
    for (const backend::Norm<T>& item : list) norms.push_back(item.norm);
  }
  return k + (std::max_element(norms.begin(), norms.end()) - norms.begin());
}

template <class T>
void TilePivoting<T>::exchange_largest(int64_t k) {
  const int64_t p = find_largest(k);
  if (p != k) exchange(k, p);
}

template <class T>
void TilePivoting<T>::rearrange_tile(Buffer<T>& block, backend::Rearrangement<T> how) {
  Buffer<T> to = ops_.buffer(how.rows * how.columns);
  how.from = block.get();
  how.ld_from = how.adjoint ? how.columns : how.rows;
  how.to = to.get();
  how.ld_to = how.rows;
  ops_.rearrange({how});
  block = std::move(to);
}

template <class T>
void TilePivoting<T>::exchange(int64_t k, int64_t p) {
  // Tiles between the two move to the other side of the diagonal.
  const auto to_adjoint = [&](int64_t i, int64_t j) {
    Tile<T>& tile = A_.at(i, j);
    if (!tile.dense) return std::swap(tile.U, tile.V);
    backend::Rearrangement<T> how{};
    how.rows = A_.rows(j);
    how.columns = A_.rows(i);
    how.adjoint = true;
    rearrange_tile(tile.U, how);
  };
  to_adjoint(p, k);
  for (int64_t m = k + 1; m < p; ++m) {
    to_adjoint(m, k);
    to_adjoint(p, m);
    std::swap(A_.at(m, k), A_.at(p, m));
  }
  for (int64_t j = 0; j < k; ++j) std::swap(A_.at(k, j), A_.at(p, j));
  for (int64_t m = p + 1; m < A_.tiles; ++m) std::swap(A_.at(m, k), A_.at(m, p));
  std::swap(A_.diagonal[k], A_.diagonal[p]);
  std::swap(tile_order_[k], tile_order_[p]);
  if (A_.shorter == k)
    A_.shorter = p;
  else if (A_.shorter == p)
    A_.shorter = k;
}

template <class T>
void TilePivoting<T>::reorder_rows(int64_t k, const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return;
  row_orders_[k] = order;
  std::vector<Buffer<T>*> blocks;
  std::vector<Buffer<T>> reordered;
  std::vector<backend::Rearrangement<T>> list;
  const auto add = [&](Buffer<T>& block, int64_t rows, int64_t columns, bool is_of_columns) {
    blocks.push_back(&block);
    reordered.push_back(ops_.buffer(rows * columns));
    backend::Rearrangement<T> item{block.get(), rows, reordered.back().get(), rows, rows, columns};
    (is_of_columns ? item.column_order : item.row_order) = order.data();
    list.push_back(item);
  };
  const int64_t n = A_.rows(k);
  for (int64_t j = 0; j < k; ++j) add(A_.at(k, j).U, n, A_.width(k, j), false);
  for (int64_t i = k + 1; i < A_.tiles; ++i) {
    Tile<T>& tile = A_.at(i, k);
    if (tile.dense)
      add(tile.U, A_.rows(i), n, true);
    else
      add(tile.V, n, tile.rank, false);
  }
  ops_.rearrange(list);
  for (size_t i = 0; i < blocks.size(); ++i) *blocks[i] = std::move(reordered[i]);
}

template <class T>
std::vector<int64_t> TilePivoting<T>::permutation() const {
  std::vector<int64_t> all;
  all.reserve(static_cast<size_t>(A_.n));
  for (int64_t k = 0; k < A_.tiles; ++k)
    for (int64_t r = 0; r < A_.rows(k); ++r)
      all.push_back(tile_order_[k] * A_.tile + (row_orders_[k].empty() ? r : row_orders_[k][r]));
  return all;
}

#define CHOL_INSTANTIATE(prefix, T, R) template class TilePivoting<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
