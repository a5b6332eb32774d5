#include "host/single/tile_potrf.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include "host/parallel_for.hpp"

namespace chol::host {

TileCholesky::TileCholesky(const Kernels& kernels, size_t element_bytes, size_t real_bytes,
                           int64_t n, int nb, TileProduct product)
    : kernels_(kernels),
      product_(product),
      element_bytes_(element_bytes),
      real_bytes_(real_bytes),
      n_(n) {
  const int64_t step = kernels.strip_rows;
  const int64_t wanted = nb > 0 && nb < n ? nb : n;
  nb_ = (wanted + step - 1) / step * step;
  tiles_ = (n + nb_ - 1) / nb_;
  const int64_t small = static_cast<int64_t>(kSmallBytes / std::max<size_t>(1, strip_bytes()));
  panels_ = std::min(tiles_, std::clamp(small, kLeastPanels, kMostPanels));
}

size_t TileCholesky::strip_bytes() const {
  return kernels_.strip_elements(n_, nb_) * element_bytes_;
}

void TileCholesky::carve(Arena& arena) {
  for (int64_t i = 0; i < panels_; ++i) {
    strips_[i] = arena.take<char>(strip_bytes());
    reciprocal_[i] = arena.take<char>(nb_ * real_bytes_);
  }
  state_ = arena.take<std::atomic<int>>(tiles_ * tiles_);
  open_updates_ = arena.take<std::atomic<int64_t>>(tiles_);
}

PanelStrips TileCholesky::strips(int64_t step) const {
  return {strips_[step % panels_], nb_, reciprocal_[step % panels_]};
}

TileCholesky::Task TileCholesky::Order::task() const {
  if (column_ == tiles_) return {Kind::none, 0, 0, 0};
  switch (phase_) {
    case Phase::diagonal:
      return {Kind::diagonal, std::max<int64_t>(0, column_ - 1), column_, column_};
    case Phase::own_updates:
      return {Kind::update, column_ - 1, row_, column_};
    case Phase::solves:
      return {Kind::solve, column_, row_, column_};
    default:
      return {Kind::update, column_ - 1, row_, update_column_};
  }
}

/// Passes over phases that have no task: below the last diagonal tile there is nothing, and the
/// first column has no updates.
void TileCholesky::Order::enter(Phase phase) {
  phase_ = phase;
  row_ = update_column_ = column_ + 1;
  const bool is_empty = column_ + 1 == tiles_ || (column_ == 0 && phase != Phase::solves);
  if (phase == Phase::diagonal || !is_empty) return;
  if (phase == Phase::own_updates) return enter(Phase::solves);
  if (phase == Phase::solves) return enter(Phase::other_updates);
  ++column_;
  enter(Phase::diagonal);
}

void TileCholesky::Order::next() {
  switch (phase_) {
    case Phase::diagonal:
      return enter(Phase::own_updates);
    case Phase::own_updates:
      if (++row_ == tiles_) enter(Phase::solves);
      return;
    case Phase::solves:
      if (++row_ == tiles_) enter(Phase::other_updates);
      return;
    default:
      if (++row_ < tiles_) return;
      row_ = ++update_column_;
      if (update_column_ < tiles_) return;
      ++column_;
      enter(Phase::diagonal);
  }
}

int64_t TileCholesky::run(const PanelMatrix& M, int threads) {
  for (int64_t i = 0; i < tiles_ * tiles_; ++i) new (&state_[i]) std::atomic<int>(0);
  for (int64_t k = 0; k < tiles_; ++k) {
    const int64_t below = tiles_ - 1 - k;
    new (&open_updates_[k]) std::atomic<int64_t>(below * (below + 1) / 2);
  }
  open_tiles_.store(tiles_ * (tiles_ + 1) / 2, std::memory_order_relaxed);
  open_column_.store(0, std::memory_order_relaxed);
  bad_minor_.store(0, std::memory_order_relaxed);
  matrix_ = &M;
  // More threads than half of the tiles find nothing to do.
  const int workers = static_cast<int>(std::min<int64_t>(threads, (tiles_ * (tiles_ + 1)) / 4));
  const double n = static_cast<double>(n_);
  // What it looks up of the program's BLAS is looked up by the caller, not by a helper.
  std::optional<SerialBlas> serial;
  if (product_) serial.emplace();
  ThreadPool::instance().run(*this,
                             {workers, tile_kernel_ns(n * n * n / 3, element_bytes_, real_bytes_)});
  return bad_minor_.load(std::memory_order_relaxed);
}

Outcome TileCholesky::advance(int worker) {
  std::optional<SerialBlas> serial;
  if (product_) serial.emplace();
  Order from(tiles_, open_column_.load(std::memory_order_relaxed));
  while (open_tiles_.load(std::memory_order_acquire) > 0) {
    if (is_called_away(worker)) return Outcome::called_away;
    if (!take_next(from)) return Outcome::waiting;
  }
  return Outcome::finished;
}

/// Takes the first ready task that is not taken and performs it. `from` passes over those before.
bool TileCholesky::take_next(Order& from) {
  const int64_t column = from.column();
  while (from.task().kind != Kind::none && is_taken(from.task())) from.next();
  if (from.column() > column) open_column_.store(from.column(), std::memory_order_relaxed);
  for (Order at = from; at.task().kind != Kind::none; at.next()) {
    const Task task = at.task();
    // No task of this column or a later one is ready before.
    const int64_t before = task.column - 1;
    if (task.kind == Kind::diagonal && before >= 0 && !is_finished(before, before)) return false;
    if (!is_ready(task) || !take(task)) continue;
    perform(task);
    return true;
  }
  return false;
}

bool TileCholesky::is_taken(const Task& task) const {
  return state(task.row, task.column).load(std::memory_order_relaxed) > 2 * task.step;
}

bool TileCholesky::is_ready(const Task& task) const {
  const int64_t r = task.row, c = task.column, step = task.step;
  if (state(r, c).load(std::memory_order_acquire) != 2 * step) return false;
  switch (task.kind) {
    case Kind::update:
      return is_finished(r, step) && is_finished(c, step);
    case Kind::solve:
      return is_finished(c, c);
    default:
      // The strips that the factor goes into were those of an earlier panel.
      return (c == 0 || is_finished(c, c - 1)) &&
             (c < panels_ || open_updates_[c - panels_].load(std::memory_order_acquire) == 0);
  }
}

bool TileCholesky::take(const Task& task) {
  int free = static_cast<int>(2 * task.step);
  return state(task.row, task.column)
      .compare_exchange_strong(free, free + 1, std::memory_order_acquire);
}

void TileCholesky::perform(const Task& task) {
  const bool is_diagonal = task.kind == Kind::diagonal;
  if (task.kind == Kind::update || (is_diagonal && task.column > 0)) update(task);
  if (is_diagonal) factor_diagonal(task.column);
  if (task.kind == Kind::solve) solve(task);
  const int64_t steps = is_diagonal ? task.column + 1 : task.step + 1;
  state(task.row, task.column).store(static_cast<int>(2 * steps), std::memory_order_release);
  const bool is_finished = task.kind != Kind::update;
  if (is_finished) open_tiles_.fetch_sub(1, std::memory_order_acq_rel);
  // A finished tile makes many tasks ready, an update one at most.
  changes->raise(is_finished ? Signal::kAll : 1);
}

void TileCholesky::update(const Task& task) {
  const int64_t r = task.row, c = task.column, step = task.step;
  if (good_columns(c) > 0) {
    if (product_)
      product_(*matrix_, start(r), end(r), start(c), end(c), start(step), end(step));
    else
      kernels_.update_tile(*matrix_, start(r), end(r), start(c), end(c), end(step) - start(step),
                           strips(step));
  }
  open_updates_[step].fetch_sub(1, std::memory_order_acq_rel);
}

void TileCholesky::factor_diagonal(int64_t column) {
  if (good_columns(column) == 0) return;
  const int64_t bad = kernels_.factor_block(*matrix_, start(column), end(column), strips(column));
  if (bad) bad_minor_.store(start(column) + bad, std::memory_order_relaxed);
}

void TileCholesky::solve(const Task& task) {
  const int64_t r = task.row, c = task.column;
  if (const int64_t columns = good_columns(c); columns > 0)
    kernels_.solve_rows(*matrix_, start(c), columns, start(r), end(r), strips(c));
}

/// Columns of a block column that come before the first bad minor.
int64_t TileCholesky::good_columns(int64_t column) const {
  const int64_t bad = bad_minor_.load(std::memory_order_relaxed);
  const int64_t last = bad && bad - 1 < end(column) ? bad - 1 : end(column);
  return last > start(column) ? last - start(column) : 0;
}

}  // namespace chol::host
