// One matrix on several threads: right-looking tile Cholesky (Kurzak, Buttari, Dongarra 2008) whose
// tasks have a static order and are taken when they are ready. Each worker takes the first task of
// the order whose operands a table of progress shows complete; a worker without such a task holds
// none, so that one that loses its core delays its own task and nothing else. The order puts the
// critical path first: diagonal tile, updates of its column, solves of its column, other updates.
// Every tile takes its updates in the order of the steps, whoever does them: same bits.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.hpp"
#include "host/blas/blas.hpp"
#include "host/kernels/kernel_table.hpp"
#include "host/threads/thread_pool.hpp"

namespace chol::host {

class TileCholesky final : public TeamWork {
 public:
  /// Tiles of nb rows and columns; nb is rounded to what the kernels' strips need.
  /// @param product the BLAS's for the updates, nullptr for the kernels'
  TileCholesky(const Kernels& kernels, size_t element_bytes, size_t real_bytes, int64_t n, int nb,
               TileProduct product);

  /// Takes the strips and the progress table from an arena (a null one counts).
  void carve(Arena& arena);

  /// Factors M with `threads` threads at most. Returns 0 or the order of the first bad minor.
  int64_t run(const PanelMatrix& M, int threads);

  Outcome advance(int worker) override;

 private:
  /// Panels whose strips are kept: that many steps may have open updates. Two let the next panel
  /// start beside the updates of the last; the others bridge workers that lost their core, as many
  /// as are small.
  static constexpr int64_t kLeastPanels = 3, kMostPanels = 8;
  static constexpr size_t kSmallBytes = 32 << 20;

  enum class Kind : uint8_t { diagonal, update, solve, none };
  /// What a tile (row, column) with `step` steps behind it needs next. update: minus the product of
  /// the panel of that step. solve: the end of a tile below the diagonal, step = column. diagonal:
  /// the last update, of step = column - 1 where there is one, and the factorization.
  struct Task {
    Kind kind;
    int64_t step, row, column;
  };
  /// Walks the tasks in their static order.
  class Order {
   public:
    /// @param column the first to finish
    Order(int64_t tiles, int64_t column) : tiles_(tiles), column_(column) {}
    /// The task at hand, kind none after the last.
    Task task() const;
    void next();
    int64_t column() const { return column_; }

   private:
    enum class Phase : uint8_t { diagonal, own_updates, solves, other_updates };
    void enter(Phase phase);
    int64_t tiles_;
    int64_t column_;  ///< the block column that these tasks finish
    Phase phase_ = Phase::diagonal;
    int64_t row_ = 0;
    int64_t update_column_ = 0;
  };

  bool take_next(Order& from);
  bool is_taken(const Task& task) const;
  bool is_ready(const Task& task) const;
  bool take(const Task& task);
  void perform(const Task& task);
  void update(const Task& task);
  void factor_diagonal(int64_t column);
  void solve(const Task& task);
  int64_t good_columns(int64_t column) const;
  /// Twice the steps that a tile has behind it, and 1 while someone works on the next.
  std::atomic<int>& state(int64_t row, int64_t column) const {
    return state_[row * tiles_ + column];
  }
  bool is_finished(int64_t row, int64_t column) const {
    return state(row, column).load(std::memory_order_acquire) == 2 * (column + 1);
  }
  size_t strip_bytes() const;
  PanelStrips strips(int64_t step) const;
  int64_t start(int64_t tile) const { return tile * nb_; }
  int64_t end(int64_t tile) const { return tile + 1 < tiles_ ? start(tile + 1) : n_; }

  const Kernels& kernels_;
  TileProduct product_;
  size_t element_bytes_, real_bytes_;
  int64_t n_, nb_, tiles_, panels_;
  const PanelMatrix* matrix_ = nullptr;
  char* strips_[kMostPanels] = {};
  char* reciprocal_[kMostPanels] = {};
  std::atomic<int>* state_ = nullptr;
  std::atomic<int64_t>* open_updates_ = nullptr;  ///< updates of a step that are not done
  std::atomic<int64_t> open_tiles_{0};            ///< tiles that are not finished
  std::atomic<int64_t> open_column_{0};  ///< all tasks that finish columns before it are taken
  std::atomic<int64_t> bad_minor_{0};
};

}  // namespace chol::host
