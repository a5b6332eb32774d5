// Solves with the factor of one matrix on several threads. Right-hand sides form groups, each with
// its unknowns in blocks. A task is all that one block of one group is ready for: updates by blocks
// that are known, in one pass, and its own substitution. So a few right-hand sides keep many
// threads busy, and many need not wait for each other. Every unknown takes the others in the order
// in which they become known: same bits for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.hpp"
#include "base/threads/thread_pool.hpp"
#include "host/kernels/kernel_table.hpp"

namespace chol::host {

class TileSolve final : public TeamWork {
 public:
  /// @param segment 0; or one right-hand side is solved for in place, in blocks of so many
  /// unknowns: no rate of products to win, but the bandwidth of all cores.
  TileSolve(const Kernels& kernels, size_t element_bytes, size_t real_bytes, int64_t n,
            int64_t nrhs, int threads, int64_t segment = 0);

  /// Takes the groups' buffers and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// B := inverse(A) B with the factor in M. As often as wanted.
  void run(const PanelMatrix& M, void* B, int64_t ldb);

  Outcome advance(int worker) override;

 private:
  /// Most right-hand sides of a group: each group reads the factor once.
  static constexpr int64_t kMostColumns = 512;
  /// Least strips of right-hand sides of a group: two reach most of a register tile's rate.
  static constexpr int64_t kLeastStrips = 2;

  /// What a block of a group with `done` steps behind it needs next: updates by known blocks, and
  /// its own substitution if `finishes`.
  struct Task {
    int64_t group, block, done, updates;
    bool backward, finishes;
  };

  bool take_next(int worker);
  bool take_in_group(int64_t group);
  bool try_block(int64_t group, int64_t block);
  bool find_task(int64_t group, int64_t block, Task* task) const;
  void perform(const Task& task);
  void substitute(const Task& task, int64_t first, int64_t last) const;
  double serial_ns() const;
  /// Twice the steps that a block has behind it, and 1 while someone works on the next. Forward
  /// substitution of block i has i updates and an end, backward the others.
  std::atomic<int>& state(int64_t group, int64_t block) const {
    return state_[group * blocks_ + block];
  }
  int64_t steps_of(int64_t group, int64_t block) const {
    return state(group, block).load(std::memory_order_acquire) / 2;
  }
  int64_t start(int64_t block) const { return block < blocks_ ? block * nb_ : n_; }
  /// Right-hand sides from this one on are the group's.
  int64_t column(int64_t group) const;
  int64_t columns(int64_t group) const { return column(group + 1) - column(group); }
  /// A group's buffer begins there; group groups_ is the end of all. Fewer right-hand sides take
  /// less.
  size_t offset(int64_t group) const;
  void* buffer(int64_t group) const { return buffers_ + offset(group); }

  const Kernels& kernels_;
  size_t element_bytes_, real_bytes_;
  int64_t n_, nrhs_, nb_, blocks_, strips_, groups_;
  int threads_;
  bool is_vector_;
  const PanelMatrix* matrix_ = nullptr;
  void* B_ = nullptr;
  int64_t ldb_ = 0;
  char* buffers_ = nullptr;
  std::atomic<int>* state_ = nullptr;
  std::atomic<int64_t> open_blocks_{0};
};

}  // namespace chol::host
