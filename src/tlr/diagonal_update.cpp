#include "tlr/diagonal_update.hpp"

#include <algorithm>

#include "api/precisions.h"
#include "tlr/right_tiles.hpp"

namespace chol::tlr {
namespace {

constexpr int64_t kPanel = 128;

/// A_ii -= U_ij (G U_ij^H) for the columns j of a range, G = V_ij^H D_j V_ij.
template <class T>
class DiagonalUpdate {
 public:
  DiagonalUpdate(backend::TileOps<T>& ops, Matrix<T>& A) : ops_(ops), A_(A) {}

  /// In panels of columns, of which the rows from `from_diagonal` on.
  Status add(int64_t i, int64_t from, int64_t to, bool lower_only) {
    rights_.emplace_back();
    const Status status = rights_.back().make(ops_, A_, i, from, to);
    if (!status.ok()) return status;
    const RightTiles<T>& right = rights_.back();
    std::vector<const T*> cores;
    int64_t widest = 0;
    for (int64_t j = from; j < to; ++j) cores.push_back(add_core(A_.at(i, j), right.at(j), j));
    for (int64_t j = from; j < to; ++j) widest = std::max(widest, A_.at(i, j).rank);
    const int64_t n = A_.rows(i), panels = (n + kPanel - 1) / kPanel;
    memory_.emplace_back(panels * widest * kPanel);
    T* const scratch = memory_.back().get();
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t first = panel * kPanel, columns = std::min(kPanel, n - first);
      const int64_t row = lower_only ? first : 0;
      T* const D = A_.diagonal[i].get() + row + first * n;
      T* const Z = scratch + panel * widest * kPanel;
      groups_.begin_group();
      for (int64_t j = from; j < to; ++j) {
        const Tile<T>& tile = A_.at(i, j);
        const T *const U = tile.U.get(), *const right_U = right.at(j).U + first;
        const int64_t r = tile.rank;
        if (tile.dense) {
          groups_.add(
              {false, true, -1, n - row, columns, A_.rows(j), U + row, n, right_U, n, D, n});
        } else if (r > 0) {
          groups_.add({false, true, 0, r, columns, r, cores[j - from], r, right_U, n, Z, r});
          groups_.add({false, false, -1, n - row, columns, r, U + row, n, Z, r, D, n});
        }
      }
    }
    return status;
  }

  void run(Control& control) {
    ops_.multiply(core_groups_);
    ops_.multiply(groups_);
    control.add_flops(core_groups_.flops() + groups_.flops());
  }

 private:
  const T* add_core(const Tile<T>& tile, const TileView<T>& right, int64_t j) {
    if (tile.dense) return nullptr;
    const int64_t r = tile.rank, columns = A_.rows(j);
    memory_.emplace_back(r * r);
    T* const core = memory_.back().get();
    core_groups_.begin_group();
    core_groups_.add(
        {true, false, 0, r, r, columns, tile.V.get(), columns, right.V, columns, core, r});
    return core;
  }

  backend::TileOps<T>& ops_;
  Matrix<T>& A_;
  std::vector<RightTiles<T>> rights_;
  std::vector<Buffer<T>> memory_;
  backend::ProductGroups<T> core_groups_, groups_;
};

}  // namespace

template <class T>
Status update_diagonal(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, Control& control) {
  control.begin(Phase::dense_update);
  DiagonalUpdate<T> update(ops, A);
  const Status status = update.add(k, 0, k, true);
  if (status.ok()) update.run(control);
  return status;
}

template <class T>
Status update_diagonals_after(backend::TileOps<T>& ops, Matrix<T>& A, int64_t k, Control& control) {
  control.begin(Phase::dense_update);
  DiagonalUpdate<T> update(ops, A);
  for (int64_t i = k + 1; i < A.tiles; ++i) {
    const Status status = update.add(i, k, k + 1, false);
    if (!status.ok()) return status;
  }
  update.run(control);
  return Status::success();
}

#define CHOL_INSTANTIATE(prefix, T, R)                                                     \
  template Status update_diagonal<T>(backend::TileOps<T>&, Matrix<T>&, int64_t, Control&); \
  template Status update_diagonals_after<T>(backend::TileOps<T>&, Matrix<T>&, int64_t, Control&);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::tlr
