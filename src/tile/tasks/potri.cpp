#include "tile/tasks/potri.hpp"

#include <algorithm>

#include "base/task_trace.hpp"
#include "base/threads/parallel_for.hpp"

namespace chol::tile {
namespace {

/// Tiles on and below the diagonal of a square of `tiles` by `tiles`.
int64_t triangle_of(int64_t tiles) { return tiles * (tiles + 1) / 2; }

/// Calls body(task) for each of the tasks, in any order.
/// @param task_ns estimated time of a task
template <class Body>
void for_each_task(int64_t tasks, double task_ns, int threads, const Body& body) {
  const int team = static_cast<int>(std::min<int64_t>(threads, tasks));
  parallel_for({tasks, 1, 1, static_cast<double>(tasks) * task_ns}, team,
               [&](int64_t task, bool, int) { body(task); });
}

}  // namespace

TileInverse::TileInverse(backend::InverseOps& ops, int64_t n, int nb) : ops_(ops), n_(n) {
  const int64_t step = ops.granularity();
  const int64_t wanted = std::max<int64_t>(1, nb > 0 && nb < n ? nb : n);
  nb_ = (wanted + step - 1) / step * step;
  tiles_ = (n + nb_ - 1) / nb_;
}

void TileInverse::run(int threads) const {
  for (int64_t block = 0; block < tiles_; ++block) step(block, threads);
}

void TileInverse::step(int64_t block, int threads) const {
  {
    const TracedTask traced(Operator::pack, block, block, block);
    ops_.pack(range(block));
  }
  const auto pack = [&](int64_t tile) {
    const TracedTask traced(tile == block ? Operator::trtri : Operator::trsm, tile, block, block);
    ops_.trsm(range(block), range(tile));
  };
  // A task is a product of tiles, or about half of one.
  const double nb = static_cast<double>(nb_);
  const double task_ns = ops_.serial_ns(2 * nb * nb * nb);
  for_each_task(tiles_, task_ns / 2, threads, pack);
  const int64_t tasks = triangle_of(tiles_) - triangle_of(tiles_ - 1 - block);
  const auto product = [&](int64_t task) { update(block, task); };
  for_each_task(tasks, task_ns, threads, product);
}

/// Tasks are numbered along the rows of tiles, each up to the block's column or the diagonal.
void TileInverse::update(int64_t block, int64_t task) const {
  int64_t row = 0, column = task;
  for (; column > std::min(row, block); ++row) column -= std::min(row, block) + 1;
  const TracedTask traced(row == column ? Operator::syrk : Operator::gemm, row, column, block);
  ops_.update(range(block), range(row), range(column));
}

}  // namespace chol::tile
