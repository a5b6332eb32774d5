#include "host/single/tile_potrs.hpp"

#include <algorithm>
#include <new>

#include "base/task_trace.hpp"
#include "base/threads/parallel_for.hpp"

namespace chol::host {

TileSolve::TileSolve(const Kernels& kernels, size_t element_bytes, size_t real_bytes, int64_t n,
                     int64_t nrhs, int threads, int64_t segment)
    : kernels_(kernels),
      element_bytes_(element_bytes),
      real_bytes_(real_bytes),
      n_(n),
      nrhs_(nrhs),
      threads_(threads),
      is_vector_(segment > 0) {
  // Blocks enough that the others have work while one finishes a block.
  const int64_t wanted = std::clamp<int64_t>(n / (2 * threads), 64, 256);
  // Tiles of complex unknowns are half again as wide as strips, or as three of two are.
  const int64_t step = kernels.strip_rows * (element_bytes > real_bytes ? 3 : 1);
  nb_ = (wanted + step - 1) / step * step;
  if (is_vector_) nb_ = segment;
  blocks_ = (n + nb_ - 1) / nb_;
  strips_ = (nrhs + kernels.strip_width - 1) / kernels.strip_width;
  const int64_t few = std::min<int64_t>(threads, strips_ / kLeastStrips);
  groups_ = std::max({int64_t{1}, few, (nrhs + kMostColumns - 1) / kMostColumns});
  groups_ = std::min(groups_, strips_);
}

int64_t TileSolve::column(int64_t group) const {
  return std::min(nrhs_, strips_ * group / groups_ * kernels_.strip_width);
}

size_t TileSolve::offset(int64_t group) const {
  const auto align_up = [](size_t bytes) {
    return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
  };
  const int64_t strips = strips_ * group / groups_;
  const size_t unknowns = strips * kernels_.strip_width * n_ * element_bytes_;
  return group * (align_up(kernels_.solve_buffer_bytes(n_, 0)) + Arena::kAlignment) +
         align_up(unknowns);
}

void TileSolve::carve(Arena& arena) {
  if (!is_vector_) buffers_ = arena.take<char>(offset(groups_));
  state_ = arena.take<std::atomic<int>>(groups_ * blocks_);
}

void TileSolve::run(const PanelMatrix& M, void* B, int64_t ldb) {
  for (int64_t i = 0; i < groups_ * blocks_; ++i) new (&state_[i]) std::atomic<int>(0);
  open_blocks_.store(groups_ * blocks_, std::memory_order_relaxed);
  matrix_ = &M;
  B_ = B;
  ldb_ = ldb;
  const int workers = static_cast<int>(std::min<int64_t>(threads_, groups_ * blocks_));
  ThreadPool::instance().run(*this, {workers, serial_ns()});
}

double TileSolve::serial_ns() const {
  constexpr double kBytesPerNs = 10;  // of a factor that comes from memory, read twice
  const double n = static_cast<double>(n_), columns = static_cast<double>(nrhs_);
  if (is_vector_) return n * n * static_cast<double>(element_bytes_) / kBytesPerNs;
  return tile_kernel_ns(2 * n * n * columns, element_bytes_, real_bytes_);
}

Outcome TileSolve::advance(int worker) {
  while (open_blocks_.load(std::memory_order_acquire) > 0) {
    if (is_called_away(worker)) return Outcome::called_away;
    if (!take_next(worker)) return Outcome::waiting;
  }
  return Outcome::finished;
}

/// Each worker begins with a group of its own, and goes on where others are not.
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

/// What is ready stays so until it is taken.
bool TileSolve::find_task(int64_t group, int64_t block, Task* task) const {
  const int state = this->state(group, block).load(std::memory_order_acquire);
  const int64_t done = state / 2, all = blocks_ + 1;
  if (state % 2 != 0 || done == all) return false;
  const bool backward = done > block;
  int64_t updates = 0;
  if (!backward)
    while (done + updates < block && steps_of(group, done + updates) > done + updates) ++updates;
  else
    while (done + updates < blocks_ && steps_of(group, blocks_ + block - done - updates) == all)
      ++updates;
  const bool finishes = done + updates == (backward ? blocks_ : block);
  *task = {group, block, done, updates, backward, finishes};
  return updates > 0 || finishes;
}

void TileSolve::perform(const Task& task) {
  const int64_t g = task.group, row = start(task.block), row_end = start(task.block + 1);
  if (task.done == 0 && !is_vector_) {
    const TracedTask traced(Operator::pack, task.block, g, 0);
    kernels_.load_rhs(*matrix_, B_, ldb_, column(g), column(g + 1), row, row_end, buffer(g));
  }
  if (task.updates > 0) {
    const TracedTask traced(Operator::gemm, task.block, g, task.done);
    const int64_t last = task.backward ? blocks_ + task.block - task.done + 1 : task.done;
    if (task.backward)
      substitute(task, last - task.updates, last);
    else
      substitute(task, last, last + task.updates);
  }
  if (task.finishes) {
    const TracedTask traced(Operator::trsm, task.block, g, task.done + task.updates);
    substitute(task, task.block, task.block + 1);
    if (task.backward && !is_vector_)
      kernels_.store_rhs(*matrix_, B_, ldb_, column(g), column(g + 1), row, row_end, buffer(g));
  }
  const int64_t steps = task.done + task.updates + task.finishes;
  state(g, task.block).store(static_cast<int>(2 * steps), std::memory_order_release);
  if (task.finishes && task.backward) open_blocks_.fetch_sub(1, std::memory_order_acq_rel);
  // A known block makes many tasks ready, an update one at most.
  changes->raise(task.finishes ? Signal::kAll : 1);
}

/// The task's block takes blocks [first, last). A vector takes one after the other: its dot
/// products are sums over blocks, however many are ready.
void TileSolve::substitute(const Task& task, int64_t first, int64_t last) const {
  const int64_t row = start(task.block), row_end = start(task.block + 1);
  if (!is_vector_)
    return kernels_.substitute(*matrix_, task.backward, columns(task.group), start(first),
                               start(last), row, row_end, buffer(task.group));
  for (int64_t i = 0; i < last - first; ++i) {
    const int64_t block = task.backward ? last - 1 - i : first + i;
    kernels_.substitute_vector(*matrix_, task.backward, start(block), start(block + 1), row,
                               row_end, B_);
  }
}

}  // namespace chol::host
