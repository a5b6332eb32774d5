#include "host/tile_cholesky.hpp"

#include <omp.h>
#include <sched.h>

#include <new>
#include <optional>

namespace chol::host {
namespace {

/// Waits in short spins, then lets others run: threads may outnumber cores.
template <class Ready>
void spin_until(Ready&& ready) {
  for (int spins = 0; !ready(); ++spins) {
    if (spins < 200) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    } else {
      sched_yield();
    }
  }
}

}  // namespace

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
}

void TileCholesky::carve(Arena& arena) {
  const size_t strip_bytes = kernels_.strip_elements(n_, nb_) * element_bytes_;
  for (int i = 0; i < 2; ++i) {
    strips_[i] = arena.take<char>(i < tiles_ ? strip_bytes : 0);
    reciprocal_[i] = arena.take<char>(nb_ * real_bytes_);
  }
  progress_ = arena.take<std::atomic<int>>(tiles_ * tiles_);
  open_updates_ = arena.take<std::atomic<int64_t>>(tiles_);
}

PanelStrips TileCholesky::strips(int64_t step) const {
  return {strips_[step % 2], nb_, reciprocal_[step % 2]};
}

TileCholesky::Task TileCholesky::Order::next() {
  while (column_ < tiles_) {
    switch (phase_) {
      case 0:
        phase_ = 1;
        ahead_ = 0;
        row_ = column_ + 1;
        update_column_ = update_row_ = column_ + 1;
        return {Kind::diagonal, column_ - 1, column_, column_};
      case 1:
        // While one thread factors the diagonal tile, the others have updates to do.
        if (column_ > 0 && ahead_ < head_start_ && update_column_ < tiles_) {
          ++ahead_;
          return next_update();
        }
        phase_ = 2;
        break;
      case 2:
        if (row_ < tiles_) return {Kind::panel, column_ - 1, row_++, column_};
        phase_ = 3;
        break;
      default:
        if (column_ > 0 && update_column_ < tiles_) return next_update();
        phase_ = 0;
        ++column_;
    }
  }
  return {Kind::none, 0, 0, 0};
}

TileCholesky::Task TileCholesky::Order::next_update() {
  const Task task{Kind::update, column_ - 1, update_row_, update_column_};
  if (++update_row_ == tiles_) update_row_ = ++update_column_;
  return task;
}

void TileCholesky::wait_for(int64_t row, int64_t column, int steps) const {
  spin_until([&] { return progress(row, column).load(std::memory_order_acquire) >= steps; });
}

int64_t TileCholesky::run(const PanelMatrix& M, int threads) {
  for (int64_t i = 0; i < tiles_ * tiles_; ++i) new (&progress_[i]) std::atomic<int>(0);
  for (int64_t k = 0; k < tiles_; ++k) {
    const int64_t below = tiles_ - 1 - k;
    new (&open_updates_[k]) std::atomic<int64_t>(below * (below + 1) / 2);
  }
  bad_minor_.store(0);
  std::atomic<int64_t> tickets{0};
  if (threads <= 1) {
    Order order(tiles_, 0);
    work(M, order, tickets);
  } else {
#pragma omp parallel num_threads(threads)
    {
      Order order(tiles_, threads - 1);
      work(M, order, tickets);
    }
  }
  return bad_minor_.load();
}

/// Each thread walks the whole order and performs the tasks whose ticket it drew. A task waits only
/// for tasks with lower tickets, so that the drawn one with the lowest always goes on.
void TileCholesky::work(const PanelMatrix& M, Order& order, std::atomic<int64_t>& tickets) {
  std::optional<SerialBlas> serial;
  if (product_) serial.emplace();
  int64_t ticket = tickets.fetch_add(1, std::memory_order_relaxed);
  for (int64_t at = 0;; ++at) {
    const Task task = order.next();
    if (task.kind == Kind::none) return;
    if (at != ticket) continue;
    perform(M, task);
    ticket = tickets.fetch_add(1, std::memory_order_relaxed);
  }
}

void TileCholesky::perform(const PanelMatrix& M, const Task& task) {
  const int64_t r = task.row, c = task.column, step = task.step;
  if (step >= 0) {
    // The tile has the steps before this one, and both row ranges of the panel are finished.
    wait_for(r, c, static_cast<int>(step));
    wait_for(r, step, static_cast<int>(step + 1));
    wait_for(c, step, static_cast<int>(step + 1));
    if (good_columns(c) > 0) update(M, task);
    open_updates_[step].fetch_sub(1, std::memory_order_acq_rel);
  }
  if (task.kind != Kind::update) finish_tile(M, task);
  progress(r, c).store(static_cast<int>(step + 1 + (task.kind != Kind::update)),
                       std::memory_order_release);
}

void TileCholesky::update(const PanelMatrix& M, const Task& task) {
  const int64_t r = task.row, c = task.column, step = task.step;
  if (product_)
    product_(M, start(r), end(r), start(c), end(c), start(step), end(step));
  else
    kernels_.update_tile(M, start(r), end(r), start(c), end(c), end(step) - start(step),
                         strips(step));
}

void TileCholesky::finish_tile(const PanelMatrix& M, const Task& task) {
  const int64_t r = task.row, c = task.column;
  if (task.kind == Kind::diagonal) {
    // These strips were the panel's two steps ago.
    if (c >= 2)
      spin_until([&] { return open_updates_[c - 2].load(std::memory_order_acquire) == 0; });
    if (good_columns(c) == 0) return;
    const int64_t bad = kernels_.factor_block(M, start(c), end(c), strips(c));
    if (bad) bad_minor_.store(start(c) + bad, std::memory_order_relaxed);
    return;
  }
  wait_for(c, c, static_cast<int>(c + 1));
  if (const int64_t columns = good_columns(c); columns > 0)
    kernels_.solve_rows(M, start(c), columns, start(r), end(r), strips(c));
}

/// Columns of a block column that come before the first bad minor.
int64_t TileCholesky::good_columns(int64_t column) const {
  const int64_t bad = bad_minor_.load(std::memory_order_relaxed);
  const int64_t last = bad && bad - 1 < end(column) ? bad - 1 : end(column);
  return last > start(column) ? last - start(column) : 0;
}

}  // namespace chol::host
