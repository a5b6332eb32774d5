// The order of tile Cholesky's tasks, with dummy operations, which record the tasks, can be
// delayed, and detect tasks that are started too early or waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/parallel_for.hpp"
#include "tile/tasks/potrf.hpp"

namespace chol::tile {
namespace {

using backend::Range;

constexpr int64_t kTile = 256;  // large enough for several threads

/// State of a run's matrix: its tiles and the slots that contain panels.
class Board final : public backend::FactorOps {
 public:
  explicit Board(int64_t n)
      : n_(n), tiles_((n + kTile - 1) / kTile), done_(static_cast<size_t>(tiles_ * tiles_)) {}

  int64_t granularity() const override { return kTile; }
  double serial_ns(double flops) const override { return tile_kernel_ns(flops, 1, 1); }
  size_t slot_bytes(int64_t columns) const override { return static_cast<size_t>(n_ * columns); }
  int64_t update_depth() const override { return 12 * kTile; }
  void carve(Arena&, int64_t, int64_t slots) override { slots_ = slots; }

  /// Slots are free after all updates that read them.
  int64_t potrf(Range tile, int64_t slot) override {
    const int64_t k = tile.first / kTile;
    const std::lock_guard lock(mutex_);
    expect(slot < slots_, "invalid slot", k, k);
    expect(done(k, k) == k, "diagonal tile lacks updates", k, k);
    const auto panel = panels_.find(slot);
    if (panel != panels_.end()) expect(panel->second.open_updates == 0, "slot in use", k, k);
    const int64_t below = tiles_ - 1 - k;
    for (const auto& [at, last] : panels_)
      if (last.step == k - 1) most_solved_ = std::max(most_solved_, last.rows.size());
    panels_[slot] = {k, below * (below + 1) / 2, {}};
    ++done(k, k);
    return 0;
  }
  void trsm(Range rows, Range columns, int64_t slot) override {
    const int64_t r = rows.first / kTile, k = columns.first / kTile;
    {
      const std::lock_guard lock(mutex_);
      expect(done(r, k) == k, "panel tile lacks updates", r, k);
      expect(panels_[slot].step == k, "solve before the factorization of the diagonal tile", r, k);
    }
    if (r % 2 == 0) take_time();
    const std::lock_guard lock(mutex_);
    panels_[slot].rows.insert(r);
    ++done(r, k);
  }
  /// A pass over a tile with the panels of several steps in consecutive slots.
  void update(Range rows, Range columns, Range factored, int64_t slot) override {
    const int64_t r = rows.first / kTile, c = columns.first / kTile;
    const int64_t count = factored.size() / kTile;
    const auto panel = [&](int64_t k) -> Panel& { return panels_[slot + k]; };
    {
      const std::lock_guard lock(mutex_);
      for (int64_t k = 0; k < count; ++k) {
        const Panel& of_step = panel(k);
        expect(of_step.rows.count(r) == 1 && of_step.rows.count(c) == 1,
               "update before its panel is finished", r, c);
        expect(done(r, c) + k == of_step.step, "updates out of order", r, c);
      }
    }
    if (r == tiles_ - 1 && c == tiles_ - 1) take_time();
    if (r == held_row_ && c == held_column_) stay_until_others_went_on();
    const std::lock_guard lock(mutex_);
    for (int64_t k = 0; k < count; ++k) --panel(k).open_updates;
    done(r, c) += count;
    tasks_done_ += static_cast<int>(count);
    ++passes_;
  }

  /// Makes the worker of this tile's first update wait until `count` updates are done.
  void hold(int64_t r, int64_t c, int count) {
    held_row_ = r;
    held_column_ = c;
    wanted_ = count;
  }
  bool others_went_on() const { return others_went_on_; }

  /// Checks that every tile has all updates and its final operation.
  void expect_finished() {
    for (int64_t c = 0; c < tiles_; ++c)
      for (int64_t r = c; r < tiles_; ++r) expect(done(r, c) == c + 1, "not finished", r, c);
  }
  const std::string& fault() const { return fault_; }
  int passes() const { return passes_; }
  /// Largest number of tiles of a panel solved before the next diagonal tile was factored.
  size_t most_solved() const { return most_solved_; }

 private:
  struct Panel {
    int64_t step = -1, open_updates = 0;
    std::set<int64_t> rows;
  };
  void stay_until_others_went_on() {
    held_row_ = -1;
    for (int ms = 0; ms < 10000 && !others_went_on_; ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      others_went_on_ = tasks_done_ >= wanted_;
    }
  }
  static void take_time() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
  int64_t& done(int64_t r, int64_t c) { return done_[static_cast<size_t>(r * tiles_ + c)]; }
  void expect(bool holds, const char* fault, int64_t r, int64_t c) {
    if (!holds && fault_.empty())
      fault_ = std::string(fault) + ": " + std::to_string(r) + ", " + std::to_string(c);
  }

  int64_t n_, tiles_, slots_ = 0;
  std::mutex mutex_;
  std::vector<int64_t> done_;        ///< updates of a tile, plus one when finished
  std::map<int64_t, Panel> panels_;  ///< by slot
  std::string fault_;
  std::atomic<int64_t> held_row_{-1}, held_column_{-1};
  std::atomic<int> tasks_done_{0};
  int wanted_ = 0, passes_ = 0;
  size_t most_solved_ = 0;
  bool others_went_on_ = false;
};

/// The full factorization on a board.
void factor(Board& board, int64_t n, int threads) {
  TileCholesky cholesky(board, n, kTile);
  Arena counted;
  cholesky.carve(counted);
  std::vector<char> memory(counted.used() + Arena::kAlignment);
  Arena arena(memory.data(), memory.size());
  cholesky.carve(arena);
  ASSERT_EQ(cholesky.run(threads), 0);
  board.expect_finished();
}

TEST(TileOrder, NothingStartsTooEarly) {
  for (const int64_t tiles : {1, 2, 3, 4, 9})
    for (const int threads : {1, 2, 3, 5}) {
      const int64_t n = tiles * kTile - (tiles > 1);
      Board board(n);
      factor(board, n, threads);
      ASSERT_EQ(board.fault(), "") << tiles << " tiles, " << threads << " threads";
    }
}

/// One worker finishes a column before it starts the next: all updates of a tile in one pass.
TEST(TileOrder, UpdatesThatAreReadyTakeOnePass) {
  constexpr int64_t kTiles = 9;
  Board board(kTiles * kTile);
  factor(board, kTiles * kTile, 1);
  ASSERT_EQ(board.fault(), "");
  EXPECT_EQ(board.passes(), kTiles * (kTiles - 1) / 2);
}

/// The worker that solves the tile below a diagonal one factors the next diagonal tile, before the
/// rest of the panel.
TEST(TileOrder, TheNextDiagonalTileComesFirst) {
  Board board(9 * kTile);
  factor(board, 9 * kTile, 1);
  ASSERT_EQ(board.fault(), "");
  EXPECT_EQ(board.most_solved(), 1u);
}

/// A worker that loses its core during a task delays only dependent tasks: others finish the other
/// updates of this step, and those of the next one except of the same tile.
TEST(TileOrder, OthersContinueDuringADelayedTask) {
  constexpr int64_t kTiles = 12;
  constexpr int kThisStep = kTiles * (kTiles - 1) / 2, kNextStep = (kTiles - 1) * (kTiles - 2) / 2;
  Board board(kTiles * kTile);
  board.hold(kTiles - 1, kTiles - 1, kThisStep - 1 + kNextStep - 1);
  factor(board, kTiles * kTile, 3);
  ASSERT_EQ(board.fault(), "");
  EXPECT_TRUE(board.others_went_on());
}

}  // namespace
}  // namespace chol::tile
