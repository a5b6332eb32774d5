#include "tlr/pivoting.hpp"

#include <algorithm>
#include <numeric>

#include "api/precisions.h"

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
Status TilePivoting<T>::two_norms(int64_t k, std::vector<double>& norms) {
  constexpr int kSteps = 6;
  const int64_t count = A_.tiles - k, tile = A_.tile;
  Buffer<T> memory(2 * count * tile);
  T *x = memory.get(), *y = x + count * tile;
  ops_.random(x, count * tile, options_.seed + 2);
  std::vector<double> lengths(static_cast<size_t>(count), 1);
  for (int step = 0; step <= kSteps; ++step) {
    // The lengths of x, and y := D x.
    std::vector<backend::Norm<T>> list;
    backend::ProductGroups<T> groups;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t n = A_.rows(k + i);
      list.push_back({x + i * tile, n, 0});
      groups.begin_group();
      groups.add({false, false, 0, n, 1, n, A_.diagonal[k + i].get(), n, x + i * tile, n,
                  y + i * tile, n});
    }
    const Status status = ops_.norms(list);
    if (!status.ok()) return status;
    for (int64_t i = 0; i < count; ++i) {
      norms[i] = lengths[i] > 0 ? list[i].norm / lengths[i] : 0;
      lengths[i] = list[i].norm;
    }
    ops_.multiply(groups);
    std::swap(x, y);
  }
  return Status::success();
}

template <class T>
Status TilePivoting<T>::find_largest(int64_t k, int64_t* largest) {
  std::vector<double> norms(static_cast<size_t>(A_.tiles - k), 0);
  Status status = Status::success();
  if (options_.pivot == 2) {
    status = two_norms(k, norms);
  } else {
    std::vector<backend::Norm<T>> list;
    for (int64_t i = k; i < A_.tiles; ++i)
      list.push_back({A_.diagonal[i].get(), A_.rows(i) * A_.rows(i), 0});
    status = ops_.norms(list);
    for (size_t i = 0; i < list.size(); ++i) norms[i] = list[i].norm;
  }
  *largest = k;
  for (int64_t i = k; i < A_.tiles; ++i)
    if (norms[i - k] > norms[*largest - k]) *largest = i;
  return status;
}

template <class T>
Status TilePivoting<T>::exchange_largest(int64_t k) {
  int64_t p = k;
  const Status status = find_largest(k, &p);
  return status.ok() && p != k ? exchange(k, p) : status;
}

template <class T>
Status TilePivoting<T>::rearrange_tile(Buffer<T>& block, backend::Rearrangement<T> how) {
  Buffer<T> to(how.rows * how.columns);
  how.from = block.get();
  how.ld_from = how.adjoint ? how.columns : how.rows;
  how.to = to.get();
  how.ld_to = how.rows;
  const Status status = ops_.rearrange({how});
  if (status.ok()) block = std::move(to);
  return status;
}

template <class T>
Status TilePivoting<T>::exchange(int64_t k, int64_t p) {
  // What lies between them changes its side of the diagonal.
  const auto to_adjoint = [&](Tile<T>& tile, int64_t rows, int64_t columns) {
    if (!tile.dense) {
      std::swap(tile.U, tile.V);
      return Status::success();
    }
    backend::Rearrangement<T> how{};
    how.rows = columns;
    how.columns = rows;
    how.adjoint = true;
    return rearrange_tile(tile.U, how);
  };
  Status status = to_adjoint(A_.at(p, k), A_.rows(p), A_.rows(k));
  for (int64_t m = k + 1; m < p && status.ok(); ++m) {
    status = to_adjoint(A_.at(m, k), A_.rows(m), A_.rows(k));
    if (status.ok()) status = to_adjoint(A_.at(p, m), A_.rows(p), A_.rows(m));
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
  return status;
}

template <class T>
Status TilePivoting<T>::reorder_rows(int64_t k, const std::vector<int64_t>& order) {
  if (std::is_sorted(order.begin(), order.end())) return Status::success();
  row_orders_[k] = order;
  const int64_t n = A_.rows(k);
  Status status = Status::success();
  for (int64_t j = 0; j < k && status.ok(); ++j) {
    backend::Rearrangement<T> how{};
    how.rows = n;
    how.columns = A_.width(k, j);
    how.row_order = order.data();
    status = rearrange_tile(A_.at(k, j).U, how);
  }
  for (int64_t i = k + 1; i < A_.tiles && status.ok(); ++i) {
    Tile<T>& tile = A_.at(i, k);
    backend::Rearrangement<T> how{};
    how.rows = tile.dense ? A_.rows(i) : n;
    how.columns = tile.dense ? n : tile.rank;
    (tile.dense ? how.column_order : how.row_order) = order.data();
    status = rearrange_tile(tile.dense ? tile.U : tile.V, how);
  }
  return status;
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
