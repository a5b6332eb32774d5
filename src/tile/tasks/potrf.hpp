// The factor of one matrix on several threads: tile Cholesky with dynamic scheduling of ready tasks
// (Kurzak, Buttari, Dongarra 2008) by a progress table. A worker takes the ready task of the
// leftmost column. A worker without a task holds no resources, so that a worker that loses its core
// delays only its own task.
//
// A task applies all updates of its tile that are ready in one pass over the tile, as IA-Chol does
// with two. Panels are stored in a ring of consecutive slots, so that several panels form one long
// operand. Since the leftmost column has priority, updates of columns further right accumulate and
// are applied in such passes; idle workers apply them as they become ready. The updates of a tile
// are applied in the order of the steps, independent of the worker and of their number in a pass:
// the bits are the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"
#include "base/threads/thread_pool.hpp"

namespace chol::tile {

class TileCholesky final : public TeamWork {
 public:
  /// Matrix of order n in tiles of nb rows and columns; nb is rounded up to a multiple that the
  /// operations require.
  TileCholesky(backend::FactorOps& ops, int64_t n, int nb);

  /// Allocates the slots and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Factors with at most `threads` threads. Returns 0 or the order of the first bad minor.
  int64_t run(int threads);

  Outcome advance(int worker) override;

 private:
  /// Panels of the ring: the number of steps that may have open updates. With two the next panel
  /// starts during the updates by the last one. Further panels compensate for workers that lost
  /// their core and let updates accumulate; small panels allow more of them.
  static constexpr int64_t kLeastPanels = 3, kMostPanels = 12;
  static constexpr size_t kSmallBytes = 48 << 20;

  /// Next task of a tile (row, column) with `step` steps completed: the updates of `updates` steps
  /// and, if `finishes`, the final operation: the triangular solve or, on the diagonal, the
  /// factorization.
  struct Task {
    int64_t row, column, step, updates;
    bool finishes;
  };

  bool take_next();
  bool take_in_column(int64_t column);
  /// Whether all updates and final operations of a column's tiles are taken.
  bool is_taken(int64_t column) const {
    return taken_[column].load(std::memory_order_relaxed) == (tiles_ - column) * (column + 1);
  }
  bool has_open_task(int64_t column) const;
  bool find_task(int64_t row, int64_t column, Task* task) const;
  bool take(const Task& task);
  void perform(const Task& task);
  void take_diagonal(int64_t column);
  void update(const Task& task);
  void factor_diagonal(int64_t column);
  void solve(const Task& task);
  int64_t good_columns(int64_t column) const;
  /// Twice the number of completed steps of the tile, plus 1 while a worker executes the next one.
  /// Tiles of a column are contiguous: a search for tasks reads few cache lines that others have
  /// just modified.
  std::atomic<int>& state(int64_t row, int64_t column) const {
    return state_[column * tiles_ + row];
  }
  bool is_finished(int64_t row, int64_t column) const {
    return state(row, column).load(std::memory_order_acquire) == 2 * (column + 1);
  }
  /// Whether no earlier panel uses the slot of this panel.
  bool has_slot(int64_t column) const {
    return column < panels_ || open_updates_[column - panels_].load(std::memory_order_acquire) == 0;
  }
  int64_t slot(int64_t step) const { return step % panels_; }
  int64_t start(int64_t tile) const { return tile * nb_; }
  int64_t end(int64_t tile) const { return tile + 1 < tiles_ ? start(tile + 1) : n_; }
  backend::Range range(int64_t tile) const { return {start(tile), end(tile)}; }

  backend::FactorOps& ops_;
  int64_t n_, nb_, tiles_, panels_, most_updates_;
  std::atomic<int>* state_ = nullptr;
  std::atomic<int64_t>* open_updates_ = nullptr;  ///< number of pending updates of a step
  std::atomic<int64_t>* taken_ = nullptr;         ///< updates and final operations of a column
  std::atomic<int64_t> open_tiles_{0};            ///< number of unfinished tiles
  std::atomic<int64_t> open_column_{0};           ///< first column with tasks not taken
  std::atomic<int64_t> bad_minor_{0};
};

}  // namespace chol::tile
