// Recursive factorization of a panel that is wider than the panel kernel supports.
#pragma once

#include "tile/cyclic_matrix.hpp"

namespace chol::tile {

/// Factors `columns` columns of A, which has `rows` rows and is already updated.
template <class T>
void factor_panel(backend::PanelOps<T>& ops, const View<T>& A, int64_t rows, int64_t columns,
                  int64_t before, int64_t behind) {
  constexpr auto kQueue = backend::Queue::panel;
  const int64_t most = ops.panel_columns();
  if (columns <= most) return ops.factor(kQueue, A, rows, columns, before, behind);
  const int64_t half = (columns / 2 + most - 1) / most * most, rest = columns - half;
  factor_panel(ops, A, rows, half, before, rest + behind);
  const View<T> left = A.at(half, 0), corner = A.at(half, half);
  ops.update_diagonal(kQueue, corner, left, rest, half);
  if (rows > columns)
    ops.update(kQueue, A.at(columns, half), A.at(columns, 0), left, rows - columns, rest, half);
  factor_panel(ops, corner, rows - half, rest, before + half, behind);
}

}  // namespace chol::tile
