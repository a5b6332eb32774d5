#include "tlr/diagonal_update.hpp"

#include <algorithm>

#include "base/precisions.h"
#include "tlr/right_tiles.hpp"

namespace chol::tlr {
namespace {

constexpr int64_t kPanel = 128;

/// A_ii -= U_ij (G U_ij^H) for the columns j of a range, G = V_ij^H D_j V_ij.
template <class T>
class DiagonalUpdate {
 public:
  DiagonalUpdate(backend::TileOps<T>& ops, Matrix<T>& A) : ops_(ops), A_(A) {}

  /// Adds the update in panels of columns: the rows of a panel from its diagonal on, or all rows.
  void add(int64_t i, int64_t from, int64_t to, bool lower_only) {
    const int64_t n = A_.rows(i);
    rights_.emplace_back();
    RightTiles<T>& right = rights_.back();
    right.make(ops_, A_, i, from, to);
    int64_t elements = 0;
    for (int64_t j = from; j < to; ++j) elements += A_.at(i, j).rank * (A_.at(i, j).rank + n);
    memory_.push_back(ops_.buffer(elements));
    T* free = memory_.back().get();
    std::vector<T*> products(static_cast<size_t>(to - from));  // G U_ij^H
    for (int64_t j = from; j < to; ++j) {
      const int64_t rank = A_.at(i, j).rank, rows = A_.rows(j);
      if (A_.at(i, j).dense || rank == 0) continue;
      const T* const core = free;
      steps_.add(0, {true, false, 0, rank, rank, rows, A_.at(i, j).V.get(), rows, right.at(j).V,
                     rows, free, rank});
      T* const product = products[j - from] = free + rank * rank;
      free = product + rank * n;
      steps_.add(1, {false, true, 0, rank, n, rank, core, rank, right.at(j).U, n, product, rank});
    }
    const int64_t step = is_split() ? kPanel : n;
    for (int64_t first = 0; first < n; first += kPanel)
      for (int64_t row = lower_only ? first : 0; row < n; row += step)
        add_block(i, from, to, right, products, row, std::min(step, n - row), first);
  }

  void run(Control& control) {
    ops_.multiply(steps_);
    control.add_flops(steps_.flops());
  }

 private:
  /// Whether panels are divided so that each of many cores has one block. The bits do not change.
  bool is_split() const {
    constexpr int kFewThreads = 4;
    return ops_.threads() > kFewThreads && !ops_.has_cores();
  }

  /// Updates the rows from `row` of the panel of diagonal tile i whose first column is `first`.
  void add_block(int64_t i, int64_t from, int64_t to, const RightTiles<T>& right,
                 const std::vector<T*>& products, int64_t row, int64_t rows, int64_t first) {
    const int64_t n = A_.rows(i), columns = std::min(kPanel, n - first);
    T* const D = A_.diagonal[i].get() + row + first * n;
    steps_[2].begin_group();
    for (int64_t j = from; j < to; ++j) {
      const int64_t rank = A_.at(i, j).rank;
      const T* const U = A_.at(i, j).U.get() + row;
      if (A_.at(i, j).dense)
        steps_[2].add(
            {false, true, -1, rows, columns, A_.rows(j), U, n, right.at(j).U + first, n, D, n});
      else if (rank > 0)
        steps_[2].add({false, false, -1, rows, columns, rank, U, n,
                       products[j - from] + first * rank, rank, D, n});
    }
  }

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  std::vector<RightTiles<T>> rights_;
  std::vector<Buffer<T>> memory_;
  backend::ProductSteps<T> steps_;
};

}  // namespace

template <class T>
void update_diagonal(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, int64_t from, int64_t to,
                     Control& control) {
  if (from == to) return;
  control.begin(Phase::dense_update);
  DiagonalUpdate<T> update(ops, A);
  update.add(k, from, to, true);
  update.run(control);
}

template <class T>
void update_diagonals_after(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, Control& control) {
  control.begin(Phase::dense_update);
  DiagonalUpdate<T> update(ops, A);
  for (int64_t i = k + 1; i < A.tiles; ++i) update.add(i, k, k + 1, false);
  update.run(control);
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                          \
  template void update_diagonal<T>(backend::TileOps<T>&, Matrix<T>&, int64_t, int64_t, int64_t, \
                                   Control&);                                                   \
  template void update_diagonals_after<T>(backend::TileOps<T>&, Matrix<T>&, int64_t, Control&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
