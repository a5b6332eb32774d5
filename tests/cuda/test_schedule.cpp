// The order of the tasks of one matrix (cuda/native/persistent/schedule.hpp), on the host: that one
// group of warps next to the chain never waits for later tasks, and, with threads, that the flags
// order all dependent accesses, as checked by ThreadSanitizer.
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "native/persistent/schedule.hpp"
#include "native/update/tiles.hpp"

namespace chol::cuda::persistent {
namespace {

int failures = 0;

void expect(bool good, const char* what, const Schedule& schedule, int where) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: %d x %d tiles, %d\n", what, schedule.rows, schedule.columns, where);
}

struct Position {
  int column = 0;
  int64_t begun = 0;  ///< tasks of the columns before

  /// The task of that index, not before the last requested one; false if there is none.
  bool find(const Schedule& schedule, int64_t index, Task* task) {
    while (column < schedule.columns && index - begun >= schedule.tasks_of(column))
      begun += schedule.tasks_of(column++);
    if (column == schedule.columns) return false;
    *task = schedule.task(column, static_cast<int>(index - begun));
    return true;
  }
};

/// The tasks one after the other, with steps of the chain as early as possible.
class InOrder {
 public:
  explicit InOrder(const Schedule& schedule)
      : schedule_(schedule), finished_(schedule.rows), prepared_(schedule.columns) {}

  void run() {
    Position position;
    Task task{};
    for (int64_t index = 0; position.find(schedule_, index, &task); ++index) {
      while (step_can_run()) ++step_, ++finished_below();
      expect(can_run(task), "a task waits for a later one", schedule_, int(index));
      if (task.kind == Task::solve)
        ++finished_[task.row];
      else
        ++prepared_[task.row - 1];
    }
    while (step_can_run()) ++step_, ++finished_below();
    expect(step_ == schedule_.columns, "the chain ends", schedule_, step_);
    for (int row = 1; row < schedule_.rows; ++row)
      expect(finished_[row] == std::min(row, schedule_.columns), "tiles of a row", schedule_, row);
  }

 private:
  int& finished_below() { return step_ < schedule_.rows ? finished_[step_] : nobody_; }
  bool step_can_run() const {
    if (step_ == schedule_.columns) return false;
    if (step_ == 0 || step_ + 1 == schedule_.rows) return true;
    return prepared_[step_] == 2 && finished_[step_ + 1] >= step_;
  }
  bool can_run(const Task& task) const {
    if (finished_[task.row] < task.depth) return false;
    if (task.column != task.row && finished_[task.column] < task.depth) return false;
    return task.kind != Task::solve || step_ > task.column;
  }

  Schedule schedule_;
  std::vector<int> finished_, prepared_;
  int step_ = 0, nobody_ = 0;
};

constexpr int kOrder = 3;
using Tile = double[kOrder][kOrder];

void subtract_product(Tile& c, const Tile& a, const Tile& b) {
  for (int i = 0; i < kOrder; ++i)
    for (int j = 0; j < kOrder; ++j)
      for (int k = 0; k < kOrder; ++k) c[i][j] -= a[i][k] * b[j][k];
}
void factor(Tile& a) {
  for (int j = 0; j < kOrder; ++j) {
    for (int k = 0; k < j; ++k)
      for (int i = j; i < kOrder; ++i) a[i][j] -= a[i][k] * a[j][k];
    a[j][j] = std::sqrt(a[j][j]);
    for (int i = j + 1; i < kOrder; ++i) a[i][j] /= a[j][j];
  }
}
void solve(Tile& x, const Tile& l) {
  for (int i = 0; i < kOrder; ++i)
    for (int j = 0; j < kOrder; ++j) {
      for (int k = 0; k < j; ++k) x[i][j] -= x[i][k] * l[j][k];
      x[i][j] /= l[j][j];
    }
}
void copy(Tile& to, const Tile& from) {
  for (int i = 0; i < kOrder; ++i)
    for (int j = 0; j < kOrder; ++j) to[i][j] = from[i][j];
}

/// The chain and the groups as threads, with the flags of the kernel.
class Threads {
 public:
  Threads(const Schedule& schedule, int groups)
      : schedule_(schedule),
        groups_(groups),
        tiles_(new Tile[size_t(schedule.rows) * schedule.rows]),
        scratch_(new Tile[size_t(schedule.columns) * 4]),
        finished_(schedule.rows),
        published_(schedule.columns),
        prepared_(schedule.columns) {
    for (int i = 0; i < schedule.rows; ++i)
      for (int j = 0; j <= i; ++j)
        for (int r = 0; r < kOrder; ++r)
          for (int c = 0; c < kOrder; ++c)
            at(i, j)[r][c] = i == j && r == c ? 3.0 * schedule.rows : 1.0 / (1 + i + j + r + c);
  }

  /// Columns that the schedule has, by the threads.
  void run() {
    std::vector<std::thread> threads;
    threads.emplace_back([this] { chain(); });
    for (int g = 0; g < groups_; ++g) threads.emplace_back([this] { group(); });
    for (std::thread& thread : threads) thread.join();
  }
  /// The same by this thread.
  void run_alone() {
    for (int c = 0; c < schedule_.columns; ++c)
      for (int i = c; i < schedule_.rows; ++i) {
        for (int k = 0; k < c; ++k) subtract_product(at(i, c), at(i, k), at(c, k));
        if (i == c)
          factor(at(c, c));
        else
          solve(at(i, c), at(c, c));
      }
  }
  double distance(const Threads& other) const {
    double most = 0;
    for (int i = 0; i < schedule_.rows; ++i)
      for (int j = 0; j < schedule_.columns && j <= i; ++j)
        for (int r = 0; r < kOrder; ++r)
          for (int c = 0; c < (i == j ? r + 1 : kOrder); ++c)
            most = std::fmax(most, std::fabs(at(i, j)[r][c] - other.at(i, j)[r][c]));
    return most;
  }

 private:
  using ProgressBarrier = std::atomic<int>;
  enum { kBelow, kSquare, kLeft, kDiagonal };

  Tile& at(int i, int j) const { return tiles_[size_t(i) * schedule_.rows + j]; }
  Tile& scratch(int which, int step) const { return scratch_[size_t(step) * 4 + which]; }
  static void wait(const ProgressBarrier& flag, int value) {
    while (flag.load(std::memory_order_acquire) < value) std::this_thread::yield();
  }
  static void raise(ProgressBarrier& flag) { flag.fetch_add(1, std::memory_order_release); }

  void chain() {
    Tile diagonal, below, next, before;
    copy(diagonal, at(0, 0));
    for (int c = 0; c < schedule_.columns; ++c) {
      const bool has_below = c + 1 < schedule_.rows;
      if (has_below && c == 0) {
        copy(below, at(1, 0));
        copy(next, at(1, 1));
      } else if (has_below) {
        wait(prepared_[c], 2);
        copy(before, below);
        copy(below, scratch(kBelow, c));
        copy(next, scratch(kSquare, c));
        wait(finished_[c + 1], c);
        subtract_product(below, scratch(kLeft, c), before);
        subtract_product(next, scratch(kLeft, c), scratch(kLeft, c));
      }
      factor(diagonal);
      copy(scratch(kDiagonal, c), diagonal);
      raise(published_[c]);
      copy(at(c, c), diagonal);
      if (!has_below) break;
      solve(below, diagonal);
      copy(at(c + 1, c), below);
      raise(finished_[c + 1]);
      subtract_product(next, below, below);
      copy(diagonal, next);
    }
  }
  void group() {
    Position position;
    Task task{};
    while (position.find(schedule_, next_.fetch_add(1, std::memory_order_relaxed), &task)) {
      Tile sum = {};
      for (int k = 0; k < task.depth; ++k) {
        wait(finished_[task.row], k + 1);
        wait(finished_[task.column], k + 1);
        subtract_product(sum, at(task.row, k), at(task.column, k));
      }
      for (int i = 0; i < kOrder; ++i)
        for (int j = 0; j < kOrder; ++j) sum[i][j] += at(task.row, task.column)[i][j];
      if (task.kind == Task::solve) {
        wait(published_[task.column], 1);
        solve(sum, scratch(kDiagonal, task.column));
        if (task.row == task.column + 2 && task.column + 1 < schedule_.columns)
          copy(scratch(kLeft, task.column + 1), sum);
        copy(at(task.row, task.column), sum);
        raise(finished_[task.row]);
      } else {
        copy(scratch(task.kind == Task::square ? kSquare : kBelow, task.row - 1), sum);
        raise(prepared_[task.row - 1]);
      }
    }
  }

  Schedule schedule_;
  int groups_;
  std::unique_ptr<Tile[]> tiles_, scratch_;
  std::vector<ProgressBarrier> finished_, published_, prepared_;
  ProgressBarrier next_{0};
};

/// That a trailing update has each tile once: on and below the diagonal, or of a rectangle.
template <class Tiles>
void check_update(const Tiles& tiles) {
  constexpr bool kWhole = std::is_same_v<Tiles, update::RectangleTiles>;
  std::vector<int> met(size_t(tiles.rows) * tiles.columns, 0);
  for (int64_t index = 0; index < tiles.total(); ++index) {
    const auto [row, column] = tiles.at(index);
    const bool inside =
        row < tiles.rows && column < tiles.columns && row >= (kWhole ? 0 : column) && column >= 0;
    expect(inside, "a tile of an update", {tiles.rows, tiles.columns}, static_cast<int>(index));
    if (inside) ++met[size_t(row) * tiles.columns + column];
  }
  for (int row = 0; row < tiles.rows; ++row)
    for (int column = 0; (kWhole || column <= row) && column < tiles.columns; ++column)
      expect(met[size_t(row) * tiles.columns + column] == 1, "tiles of an update",
             {tiles.rows, tiles.columns}, row);
}

}  // namespace
}  // namespace chol::cuda::persistent

int main() {
  using namespace chol::cuda::persistent;
  for (int rows = 1; rows <= 40; ++rows)
    for (int columns = 1; columns <= rows; ++columns) {
      InOrder({rows, columns}).run();
      check_update(chol::cuda::update::Tiles{rows, columns});
      check_update(chol::cuda::update::RectangleTiles{rows, columns});
      check_update(chol::cuda::update::RectangleTiles{columns, rows});
    }
  for (int rows : {1, 2, 3, 4, 5, 8, 13, 21})
    for (int columns : {rows, (rows + 1) / 2, 1})
      for (int groups : {1, 2, 5}) {
        Threads parallel({rows, columns}, groups), alone({rows, columns}, 0);
        parallel.run();
        alone.run_alone();
        const double distance = parallel.distance(alone);
        expect(distance < 1e-12, "the factor by threads", {rows, columns}, groups);
      }
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
