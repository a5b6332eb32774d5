#include "tile/tasks/potrs.hpp"

#include <algorithm>
#include <new>

#include "base/task_trace.hpp"

namespace chol::tile {

TileSolve::TileSolve(backend::SolveOps& ops, int64_t n, int64_t nrhs, int threads, int64_t nb)
    : ops_(ops), n_(n), nrhs_(nrhs), nb_(nb), threads_(threads) {
  if (nb_ == 0) {
    // Enough blocks that the other threads have work while one finishes a block.
    const int64_t wanted = std::clamp<int64_t>(n / (2 * threads), 64, 256);
    const int64_t step = ops.granularity();
    nb_ = (wanted + step - 1) / step * step;
  }
  blocks_ = (n + nb_ - 1) / nb_;
  parts_ = (nrhs + ops.rhs_granularity() - 1) / ops.rhs_granularity();
  const int64_t few = std::min<int64_t>(threads, parts_ / kLeastParts);
  groups_ = std::max({int64_t{1}, few, (nrhs + kMostColumns - 1) / kMostColumns});
  groups_ = std::min(groups_, parts_);
}

int64_t TileSolve::column(int64_t group) const {
  return std::min(nrhs_, parts_ * group / groups_ * ops_.rhs_granularity());
}

void TileSolve::carve(Arena& arena) {
  ops_.carve(arena, groups_);
  state_ = arena.take<std::atomic<int>>(groups_ * blocks_);
}

void TileSolve::run() {
  for (int64_t i = 0; i < groups_ * blocks_; ++i) new (&state_[i]) std::atomic<int>(0);
  open_blocks_.store(groups_ * blocks_, std::memory_order_relaxed);
  const int workers = static_cast<int>(std::min<int64_t>(threads_, groups_ * blocks_));
  const double n = static_cast<double>(n_), columns = static_cast<double>(nrhs_);
  ThreadPool::instance().run(*this, {workers, ops_.serial_ns(2 * n * n * columns)});
}

Outcome TileSolve::advance(int worker) {
  while (open_blocks_.load(std::memory_order_acquire) > 0) {
    if (is_called_away(worker)) return Outcome::called_away;
    if (!take_next(worker)) return Outcome::waiting;
  }
  return Outcome::finished;
}

/// Each worker begins with a group of its own and continues with groups that have no worker.
bool TileSolve::take_next(int worker) {
  for (int64_t g = 0; g < groups_; ++g)
    if (take_in_group((worker + g) % groups_)) return true;
  return false;
}

/// Forward substitution ends with the last block, where backward substitution begins.
bool TileSolve::take_in_group(int64_t group) {
  for (int64_t i = 0; i < blocks_; ++i)
    if (steps_of(group, i) <= i && try_block(group, i)) return true;
  for (int64_t i = blocks_ - 1; i >= 0; --i)
    if (steps_of(group, i) > i && try_block(group, i)) return true;
  return false;
}

bool TileSolve::try_block(int64_t group, int64_t block) {
  Task task;
  if (!find_task(group, block, &task)) return false;
  int free = static_cast<int>(2 * task.done);
  if (!state(group, block).compare_exchange_strong(free, free + 1, std::memory_order_acquire))
    return false;
  perform(task);
  return true;
}

/// A ready task remains ready until it is taken.
bool TileSolve::find_task(int64_t group, int64_t block, Task* task) const {
  const int state = this->state(group, block).load(std::memory_order_acquire);
  const int64_t done = state / 2, all = blocks_ + 1;
  if (state % 2 != 0 || done == all) return false;
  const Substitution sweep = done > block ? Substitution::backward : Substitution::forward;
  int64_t updates = 0;
  if (sweep == Substitution::forward)
    while (done + updates < block && steps_of(group, done + updates) > done + updates) ++updates;
  else
    while (done + updates < blocks_ && steps_of(group, blocks_ + block - done - updates) == all)
      ++updates;
  const bool finishes = done + updates == (sweep == Substitution::backward ? blocks_ : block);
  *task = {group, block, done, updates, sweep, finishes};
  return updates > 0 || finishes;
}

void TileSolve::perform(const Task& task) {
  const int64_t g = task.group;
  const backend::Range unknowns = range(task.block, task.block + 1);
  const bool is_last = task.finishes && task.sweep == Substitution::backward;
  if (task.done == 0 && !ops_.is_in_place()) {
    const TracedTask traced(Operator::pack, task.block, g, 0);
    ops_.load(columns(g), unknowns);
  }
  if (task.updates > 0) update(task);
  if (task.finishes) {
    const TracedTask traced(Operator::trsm, task.block, g, task.done + task.updates);
    ops_.trsm(task.sweep, columns(g), unknowns);
    if (is_last && !ops_.is_in_place()) ops_.store(columns(g), unknowns);
  }
  const int64_t steps = task.done + task.updates + task.finishes;
  state(g, task.block).store(static_cast<int>(2 * steps), std::memory_order_release);
  if (is_last) open_blocks_.fetch_sub(1, std::memory_order_acq_rel);
  // A solved block makes many tasks ready, an update at most one.
  changes->raise(task.finishes ? Signal::kAll : 1);
}

void TileSolve::update(const Task& task) const {
  const TracedTask traced(Operator::gemm, task.block, task.group, task.done);
  // Backward substitution starts at the last block.
  const int64_t first = task.sweep == Substitution::forward
                            ? task.done
                            : blocks_ + task.block - task.done + 1 - task.updates;
  ops_.update(task.sweep, columns(task.group), range(task.block, task.block + 1),
              range(first, first + task.updates));
}

}  // namespace chol::tile
