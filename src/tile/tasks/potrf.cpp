#include "tile/tasks/potrf.hpp"

#include <algorithm>
#include <new>

#include "base/task_trace.hpp"

namespace chol::tile {

TileCholesky::TileCholesky(backend::FactorOps& ops, int64_t n, int nb) : ops_(ops), n_(n) {
  const int64_t step = ops.granularity();
  const int64_t wanted = nb > 0 && nb < n ? nb : n;
  nb_ = (wanted + step - 1) / step * step;
  tiles_ = (n + nb_ - 1) / nb_;
  most_updates_ = std::max<int64_t>(1, ops.update_depth() / nb_);
  const int64_t small =
      static_cast<int64_t>(kSmallBytes / std::max<size_t>(1, ops.slot_bytes(nb_)));
  panels_ = std::clamp(small, kLeastPanels, kMostPanels);
  panels_ = std::min(tiles_, std::max(panels_, most_updates_));
}

void TileCholesky::carve(Arena& arena) {
  ops_.carve(arena, nb_, panels_);
  state_ = arena.take<std::atomic<int>>(tiles_ * tiles_);
  open_updates_ = arena.take<std::atomic<int64_t>>(tiles_);
  taken_ = arena.take<std::atomic<int64_t>>(tiles_);
}

int64_t TileCholesky::run(int threads) {
  for (int64_t i = 0; i < tiles_ * tiles_; ++i) new (&state_[i]) std::atomic<int>(0);
  for (int64_t k = 0; k < tiles_; ++k) {
    const int64_t below = tiles_ - 1 - k;
    new (&open_updates_[k]) std::atomic<int64_t>(below * (below + 1) / 2);
    new (&taken_[k]) std::atomic<int64_t>(0);
  }
  open_tiles_.store(tiles_ * (tiles_ + 1) / 2, std::memory_order_relaxed);
  open_column_.store(0, std::memory_order_relaxed);
  bad_minor_.store(0, std::memory_order_relaxed);
  // More threads than half of the tiles would find no tasks.
  const int workers = static_cast<int>(std::min<int64_t>(threads, (tiles_ * (tiles_ + 1)) / 4));
  const double n = static_cast<double>(n_);
  ThreadPool::instance().run(*this, {workers, ops_.serial_ns(n * n * n / 3)});
  return bad_minor_.load(std::memory_order_relaxed);
}

Outcome TileCholesky::advance(int worker) {
  while (open_tiles_.load(std::memory_order_acquire) > 0) {
    if (is_called_away(worker)) return Outcome::called_away;
    if (!take_next()) return Outcome::waiting;
  }
  return Outcome::finished;
}

/// Takes the ready task of the leftmost column that has one, and executes it.
bool TileCholesky::take_next() {
  int64_t open = open_column_.load(std::memory_order_relaxed);
  for (int64_t c = open; c < tiles_; ++c) {
    if (has_open_task(c) && take_in_column(c)) return true;
    if (c == open && is_taken(c)) open_column_.store(++open, std::memory_order_relaxed);
  }
  return false;
}

/// Whether tasks of a column may be open: updates by panels whose tile in row `column` is finished,
/// and the final operations of its tiles. This test reads few counters instead of all tiles.
bool TileCholesky::has_open_task(int64_t column) const {
  const int64_t taken = taken_[column].load(std::memory_order_relaxed);
  const int64_t rows = tiles_ - column;
  if (is_taken(column)) return false;
  const int64_t known = taken / rows;
  return known >= column || taken % rows != 0 || is_finished(column, known);
}

bool TileCholesky::take_in_column(int64_t column) {
  for (int64_t r = column; r < tiles_; ++r) {
    Task task;
    if (!find_task(r, column, &task) || !take(task)) continue;
    perform(task);
    return true;
  }
  return false;
}

/// Finds the ready task of a tile. A ready task remains ready until it is taken.
bool TileCholesky::find_task(int64_t row, int64_t column, Task* task) const {
  const int state = this->state(row, column).load(std::memory_order_acquire);
  const int64_t step = state / 2;
  if (state % 2 != 0 || step > column) return false;
  const int64_t most = std::min({column - step, most_updates_, panels_ - step % panels_});
  int64_t updates = 0;
  while (updates < most && is_finished(row, step + updates) && is_finished(column, step + updates))
    ++updates;
  const bool is_diagonal = row == column;
  const bool finishes = is_diagonal ? step + updates == column && has_slot(column)
                                    : step == column && is_finished(column, column);
  *task = {row, column, step, updates, finishes};
  return updates > 0 || finishes;
}

bool TileCholesky::take(const Task& task) {
  int free = static_cast<int>(2 * task.step);
  if (!state(task.row, task.column)
           .compare_exchange_strong(free, free + 1, std::memory_order_acquire))
    return false;
  taken_[task.column].fetch_add(task.updates + task.finishes, std::memory_order_relaxed);
  return true;
}

void TileCholesky::perform(const Task& task) {
  if (task.updates > 0) update(task);
  if (task.finishes) task.row == task.column ? factor_diagonal(task.column) : solve(task);
  const int64_t steps = task.step + task.updates + task.finishes;
  state(task.row, task.column).store(static_cast<int>(2 * steps), std::memory_order_release);
  if (task.finishes) open_tiles_.fetch_sub(1, std::memory_order_acq_rel);
  // A finished tile makes many tasks ready, an update at most one.
  changes->raise(task.finishes ? Signal::kAll : 1);
  if (task.finishes && task.row == task.column + 1) take_diagonal(task.row);
}

/// The worker that solves the tile below a diagonal tile continues with the next diagonal tile
/// (PTSP of IA-Chol), which is on the critical path: its last operands are in the cache.
void TileCholesky::take_diagonal(int64_t column) {
  Task task;
  if (find_task(column, column, &task) && take(task)) perform(task);
}

void TileCholesky::update(const Task& task) {
  const int64_t r = task.row, c = task.column, step = task.step;
  if (good_columns(c) > 0) {
    const TracedTask traced(r == c ? Operator::syrk : Operator::gemm, r, c, step);
    ops_.update(range(r), range(c), {start(step), start(step + task.updates)}, slot(step));
  }
  for (int64_t k = step; k < step + task.updates; ++k)
    open_updates_[k].fetch_sub(1, std::memory_order_acq_rel);
}

void TileCholesky::factor_diagonal(int64_t column) {
  if (good_columns(column) == 0) return;
  const TracedTask traced(Operator::potrf, column, column, column);
  const int64_t bad = ops_.potrf(range(column), slot(column));
  if (bad) bad_minor_.store(start(column) + bad, std::memory_order_relaxed);
}

void TileCholesky::solve(const Task& task) {
  const int64_t r = task.row, c = task.column;
  if (const int64_t columns = good_columns(c); columns > 0) {
    const TracedTask traced(Operator::trsm, r, c, c);
    ops_.trsm(range(r), {start(c), start(c) + columns}, slot(c));
  }
}

/// Number of columns of a block column before the first bad minor.
int64_t TileCholesky::good_columns(int64_t column) const {
  const int64_t bad = bad_minor_.load(std::memory_order_relaxed);
  const int64_t last = bad && bad - 1 < end(column) ? bad - 1 : end(column);
  return last > start(column) ? last - start(column) : 0;
}

}  // namespace chol::tile
