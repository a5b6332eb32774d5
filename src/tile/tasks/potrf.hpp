// The factor of one matrix on several threads: tile Cholesky whose tasks are taken when they are
// ready (Kurzak, Buttari, Dongarra 2008), by a table of progress. A worker takes the ready task of
// the leftmost column; one that finds none holds none, so that a worker that loses its core delays
// its own task and nothing else.
//
// A task applies all updates of its tile that are ready at once, in one pass over the tile, as
// IA-Chol does with two: panels lie side by side in a ring of slots, where several are one long
// operand. The leftmost column first means that updates of columns further right wait, and come in
// such passes; workers that find nothing else take them as they come. Every tile takes its updates
// in the order of the steps, whoever does them and however many at once: same bits.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"
#include "base/threads/thread_pool.hpp"

namespace chol::tile {

class TileCholesky final : public TeamWork {
 public:
  /// Of order n in tiles of nb rows and columns; nb is rounded up to what the operations need.
  TileCholesky(backend::FactorOps& ops, int64_t n, int nb);

  /// Takes the slots and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Factors with `threads` threads at most. Returns 0 or the order of the first bad minor.
  int64_t run(int threads);

  Outcome advance(int worker) override;

 private:
  /// Panels of the ring: that many steps may have open updates. Two let the next panel start beside
  /// the updates of the last; the others bridge workers that lost their core and let updates wait
  /// for each other, as many as are small.
  static constexpr int64_t kLeastPanels = 3, kMostPanels = 12;
  static constexpr size_t kSmallBytes = 48 << 20;

  /// What a tile (row, column) with `step` steps behind it needs next: the updates of `updates`
  /// steps, and its end, if `finishes`: the triangular solve or, on the diagonal, the
  /// factorization.
  struct Task {
    int64_t row, column, step, updates;
    bool finishes;
  };

  bool take_next();
  bool take_in_column(int64_t column);
  /// Whether all updates and ends of a column's tiles are taken.
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
  /// Twice the steps that a tile has behind it, and 1 while someone works on the next. Tiles of a
  /// column lie side by side: who looks for a task reads few lines, which others have just changed.
  std::atomic<int>& state(int64_t row, int64_t column) const {
    return state_[column * tiles_ + row];
  }
  bool is_finished(int64_t row, int64_t column) const {
    return state(row, column).load(std::memory_order_acquire) == 2 * (column + 1);
  }
  /// Whether the slot that a panel goes into is no earlier one's any more.
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
  std::atomic<int64_t>* open_updates_ = nullptr;  ///< updates of a step that are not done
  std::atomic<int64_t>* taken_ = nullptr;         ///< updates and ends of a column's tiles
  std::atomic<int64_t> open_tiles_{0};            ///< tiles that are not finished
  std::atomic<int64_t> open_column_{0};           ///< columns before it are taken
  std::atomic<int64_t> bad_minor_{0};
};

}  // namespace chol::tile
