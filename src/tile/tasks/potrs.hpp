// Solves with the factor of one matrix on several threads. Right-hand sides form groups, each with
// its unknowns in blocks. A task consists of all ready operations of one block of one group:
// updates by solved blocks, in one pass, and its own substitution. Few right-hand sides can thus
// use many threads, and groups of many right-hand sides are independent. The updates of an unknown
// are applied in the order in which the blocks are solved: the bits do not depend on the number of
// threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"
#include "base/threads/thread_pool.hpp"

namespace chol::tile {

class TileSolve final : public TeamWork {
 public:
  /// System of order n with nrhs right-hand sides.
  /// @param nb unknowns of a block; 0: chosen from the order and the number of threads, rounded up
  /// to a multiple that the operations require.
  TileSolve(backend::SolveOps& ops, int64_t n, int64_t nrhs, int threads, int64_t nb = 0);

  /// Allocates the groups' memory and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Solves; may be called repeatedly.
  void run();

  Outcome advance(int worker) override;

 private:
  using Substitution = backend::Substitution;
  /// Largest number of right-hand sides of a group: each group reads the factor once.
  static constexpr int64_t kMostColumns = 512;
  /// Smallest width of a group in units of SolveOps::rhs_granularity(): twice that reaches most of
  /// a register tile's rate.
  static constexpr int64_t kLeastParts = 2;

  /// Next task of a block of a group with `done` steps completed: updates by solved blocks and, if
  /// `finishes`, its own substitution.
  struct Task {
    int64_t group, block, done, updates;
    Substitution sweep;
    bool finishes;
  };

  bool take_next(int worker);
  bool take_in_group(int64_t group);
  bool try_block(int64_t group, int64_t block);
  bool find_task(int64_t group, int64_t block, Task* task) const;
  void perform(const Task& task);
  void update(const Task& task) const;
  /// Twice the number of completed steps of the block, plus 1 while a worker executes the next one.
  /// Forward substitution of block i has i updates and a final operation, backward substitution the
  /// others.
  std::atomic<int>& state(int64_t group, int64_t block) const {
    return state_[group * blocks_ + block];
  }
  int64_t steps_of(int64_t group, int64_t block) const {
    return state(group, block).load(std::memory_order_acquire) / 2;
  }
  int64_t start(int64_t block) const { return block < blocks_ ? block * nb_ : n_; }
  backend::Range range(int64_t first, int64_t last) const { return {start(first), start(last)}; }
  /// First right-hand side of the group.
  int64_t column(int64_t group) const;
  backend::RhsGroup columns(int64_t group) const {
    return {group, {column(group), column(group + 1)}};
  }

  backend::SolveOps& ops_;
  /// parts_: number of right-hand sides in multiples of rhs_granularity().
  int64_t n_, nrhs_, nb_, blocks_, parts_, groups_;
  int threads_;
  std::atomic<int>* state_ = nullptr;
  std::atomic<int64_t> open_blocks_{0};
};

}  // namespace chol::tile
