// One matrix on several threads: right-looking tile Cholesky with a static order of tasks and a
// progress table (Kurzak, Buttari, Dongarra 2008; the order gives every task its place, the table
// makes it wait for nothing but its own operands).
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.hpp"
#include "host/blas/blas.hpp"
#include "host/kernels.hpp"

namespace chol::host {

class TileCholesky {
 public:
  /// Tiles of nb rows and columns; nb is rounded to what the kernels' strips need.
  /// @param product the BLAS's for the updates, nullptr for the kernels'
  TileCholesky(const Kernels& kernels, size_t element_bytes, size_t real_bytes, int64_t n, int nb,
               TileProduct product);

  /// Takes the strips and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Factors M with `threads` threads. Returns 0 or the order of the first bad minor.
  int64_t run(const PanelMatrix& M, int threads);

 private:
  enum class Kind : uint8_t { diagonal, panel, update, none };
  /// update: tile (row, column) minus the product of the panel of `step`. diagonal and panel: the
  /// same for step = column - 1, then the factorization or solve that ends column's tile.
  struct Task {
    Kind kind;
    int64_t step, row, column;
  };
  /// Walks the tasks in their static order.
  class Order {
   public:
    Order(int64_t tiles, int64_t head_start) : tiles_(tiles), head_start_(head_start) {}
    Task next();

   private:
    Task next_update();
    int64_t tiles_, head_start_;
    int64_t column_ = 0;  ///< the block column whose panel is being finished
    int64_t phase_ = 0;   ///< 0 diagonal, 1 updates ahead of the panel, 2 panel, 3 updates
    int64_t ahead_ = 0;   ///< updates issued ahead of the panel
    int64_t row_ = 0;
    int64_t update_row_ = 0, update_column_ = 0;
  };

  void work(const PanelMatrix& M, Order& order, std::atomic<int64_t>& tickets);
  void perform(const PanelMatrix& M, const Task& task);
  void update(const PanelMatrix& M, const Task& task);
  void finish_tile(const PanelMatrix& M, const Task& task);
  int64_t good_columns(int64_t column) const;
  void wait_for(int64_t row, int64_t column, int progress) const;
  std::atomic<int>& progress(int64_t row, int64_t column) const {
    return progress_[row * tiles_ + column];
  }
  PanelStrips strips(int64_t step) const;
  int64_t start(int64_t tile) const { return tile * nb_; }
  int64_t end(int64_t tile) const { return tile + 1 < tiles_ ? start(tile + 1) : n_; }

  const Kernels& kernels_;
  TileProduct product_;
  size_t element_bytes_, real_bytes_;
  int64_t n_, nb_, tiles_;
  char* strips_[2] = {nullptr, nullptr};  ///< the panel in use and the next
  char* reciprocal_[2] = {nullptr, nullptr};
  std::atomic<int>* progress_ = nullptr;          ///< steps that a tile has behind it
  std::atomic<int64_t>* open_updates_ = nullptr;  ///< updates of a step that are not done
  std::atomic<int64_t> bad_minor_{0};
};

}  // namespace chol::host
