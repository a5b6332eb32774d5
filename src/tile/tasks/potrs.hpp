// Solves with the factor of one matrix on several threads. Right-hand sides form groups, each with
// its unknowns in blocks. A task is all that one block of one group is ready for: updates by blocks
// that are known, in one pass, and its own substitution. So a few right-hand sides keep many
// threads busy, and many need not wait for each other. Every unknown takes the others in the order
// in which they become known: same bits for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/task_ops.hpp"
#include "base/arena.hpp"
#include "base/threads/thread_pool.hpp"

namespace chol::tile {

class TileSolve final : public TeamWork {
 public:
  /// Of order n, with nrhs right-hand sides.
  /// @param nb unknowns of a block; 0: what suits order and threads, rounded up to what the
  /// operations need.
  TileSolve(backend::SolveOps& ops, int64_t n, int64_t nrhs, int threads, int64_t nb = 0);

  /// Takes the groups' memory and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Solves, as often as wanted.
  void run();

  Outcome advance(int worker) override;

 private:
  using Substitution = backend::Substitution;
  /// Most right-hand sides of a group: each group reads the factor once.
  static constexpr int64_t kMostColumns = 512;
  /// Least of SolveOps::rhs_granularity() in a group: twice that reaches most of a register tile's
  /// rate.
  static constexpr int64_t kLeastParts = 2;

  /// What a block of a group with `done` steps behind it needs next: updates by known blocks, and
  /// its own substitution if `finishes`.
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
  /// Twice the steps that a block has behind it, and 1 while someone works on the next. Forward
  /// substitution of block i has i updates and an end, backward the others.
  std::atomic<int>& state(int64_t group, int64_t block) const {
    return state_[group * blocks_ + block];
  }
  int64_t steps_of(int64_t group, int64_t block) const {
    return state(group, block).load(std::memory_order_acquire) / 2;
  }
  int64_t start(int64_t block) const { return block < blocks_ ? block * nb_ : n_; }
  backend::Range range(int64_t first, int64_t last) const { return {start(first), start(last)}; }
  /// Right-hand sides from this one on are the group's.
  int64_t column(int64_t group) const;
  backend::RhsGroup columns(int64_t group) const {
    return {group, {column(group), column(group + 1)}};
  }

  backend::SolveOps& ops_;
  /// Right-hand sides in multiples of rhs_granularity(): parts_.
  int64_t n_, nrhs_, nb_, blocks_, parts_, groups_;
  int threads_;
  std::atomic<int>* state_ = nullptr;
  std::atomic<int64_t> open_blocks_{0};
};

}  // namespace chol::tile
