#include "tlr/row_error.hpp"

#include <algorithm>
#include <cmath>

#include "base/precisions.h"

namespace chol::tlr {

template <class T>
RowError<T>::RowError(backend::TileOps<T>& ops, int64_t index, int64_t order)
    : ops_(ops), index_(index), order_(order), gram_(ops.buffer(order * order)) {
  ops_.set_zero(gram_.get(), order * order);
}

template <class T>
void RowError<T>::add(T* D, int64_t rows, int64_t columns, bool is_of_row, const Tile<T>& tile,
                      double size) {
  if (tile.dense || !(size > 0)) return;
  items_.push_back({D, rows, columns, is_of_row, size});
  if (tile.rank == 0) return;
  errors_.begin_group();
  errors_.add({false, true, -1, rows, columns, tile.rank, tile.U.get(), rows, tile.V.get(), columns,
               D, rows});
}

template <class T>
void RowError<T>::update() {
  constexpr int64_t kPanel = 64;
  ops_.multiply(errors_);
  for (const Item& item : items_)
    ops_.scale(item.E, item.rows * item.columns, static_cast<RealOf<T>>(1 / item.size));
  backend::ProductGroups<T> sums;
  for (int64_t c = 0; c < order_; c += kPanel) {
    const int64_t columns = std::min(kPanel, order_ - c);
    T* const G = gram_.get() + c * order_;
    sums.begin_group();
    for (const Item& item : items_) {
      const int64_t ld = item.rows;
      if (item.is_of_row)
        sums.add(
            {false, true, 1, order_, columns, item.columns, item.E, ld, item.E + c, ld, G, order_});
      else
        sums.add({true, false, 1, order_, columns, item.rows, item.E, ld, item.E + c * ld, ld, G,
                  order_});
    }
  }
  ops_.multiply(sums);
  items_.clear();
  errors_ = {};
}

template <class T>
double RowError<T>::norm() const {
  constexpr int kSteps = 12;
  constexpr uint64_t kSeed = 7;
  const Buffer<T> memory = ops_.buffer(2 * order_);
  T *x = memory.get(), *y = x + order_;
  ops_.random(x, order_, kSeed);
  double square = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double length = std::sqrt(ops_.inner(x, x, order_));
    if (!(length > 0)) return 0;
    ops_.scale(x, order_, static_cast<RealOf<T>>(1 / length));
    backend::ProductGroups<T> groups;
    groups.begin_group();
    groups.add({false, false, 0, order_, 1, order_, gram_.get(), order_, x, order_, y, order_});
    ops_.multiply(groups);
    std::swap(x, y);
    square = std::sqrt(ops_.inner(x, x, order_));
  }
  return std::sqrt(square);
}

#define CHOL_INSTANTIATE(prefix, T, R) template class RowError<T>;
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
