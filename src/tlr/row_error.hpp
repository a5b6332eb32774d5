// Measures the norm of the errors of a row of tiles.
#pragma once

#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/matrix.hpp"

namespace chol::tlr {

template <class T>
class RowError {
 public:
  /// @param order number of rows of the tiles in the row
  RowError(backend::TileOps<T>& ops, int64_t index, int64_t order);
  int64_t index() const { return index_; }

  /// Adds a tile. D, which is overwritten, is a tile of the row, or of the column of the same
  /// index; `tile` is its approximation, with an error of the Frobenius norm `size`.
  void add(T* D, int64_t rows, int64_t columns, bool is_of_row, const Tile<T>& tile, double size);
  /// Accumulates the tiles that were added.
  void update();
  /// ||(E_1, E_2, ...)||_2 of the errors E_j = D_j - U_j V_j^H, each scaled to Frobenius norm 1. An
  /// estimate by power iteration, which is slightly too small.
  double norm() const;

 private:
  struct Item {
    T* E;
    int64_t rows, columns;
    bool is_of_row;
    double size;
  };
  backend::TileOps<T>& ops_;
  int64_t index_, order_;
  Buffer<T> gram_;  ///< the sum of E_j E_j^H
  std::vector<Item> items_;
  backend::ProductGroups<T> errors_;
};

}  // namespace chol::tlr
