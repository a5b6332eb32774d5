// The order of a solve's tasks on one matrix, with dummy operations, which record the known
// unknowns and detect tasks that are too early or repeated.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/parallel_for.hpp"
#include "tile/tasks/potrs.hpp"

namespace chol::tile {
namespace {

using backend::Range;
using backend::RhsGroup;
using backend::Substitution;

constexpr int64_t kStep = 64;

/// The unknowns of one group, in steps of the smallest block: the number of updates of each.
struct Group {
  std::vector<int64_t> forward, backward;
  std::vector<bool> loaded, stored;
};

class Board final : public backend::SolveOps {
 public:
  explicit Board(int64_t n, bool in_place = false)
      : steps_((n + kStep - 1) / kStep), in_place_(in_place) {
    if (in_place) load({0, {0, 1}}, {0, n});
  }

  int64_t granularity() const override { return kStep; }
  double serial_ns(double flops) const override { return tile_kernel_ns(flops, 1, 1); }
  int64_t rhs_granularity() const override { return 8; }
  bool is_in_place() const override { return in_place_; }
  void carve(Arena&, int64_t) override {}

  void load(const RhsGroup& of, Range unknowns) override {
    const std::lock_guard lock(mutex_);
    Group& g = group(of);
    for (int64_t i = unknowns.first / kStep; i * kStep < unknowns.last; ++i) {
      expect(!g.loaded[i], "loaded twice", i);
      g.loaded[i] = true;
    }
  }
  void store(const RhsGroup& of, Range unknowns) override {
    const std::lock_guard lock(mutex_);
    Group& g = group(of);
    for (int64_t i = unknowns.first / kStep; i * kStep < unknowns.last; ++i) {
      expect(g.backward[i] == steps_ - i, "stored before it is solved", i);
      expect(!g.stored[i], "stored twice", i);
      g.stored[i] = true;
    }
  }
  void update(Substitution sweep, const RhsGroup& of, Range unknowns, Range known) override {
    expect(known.last <= unknowns.first || known.first >= unknowns.last,
           "update of a block by itself", unknowns.first);
    substitute(sweep == Substitution::backward, of, known.first, known.last, unknowns.first,
               unknowns.last);
  }
  void trsm(Substitution sweep, const RhsGroup& of, Range unknowns) override {
    substitute(sweep == Substitution::backward, of, unknowns.first, unknowns.last, unknowns.first,
               unknowns.last);
  }

  void hold(int64_t row) { hold_ = row; }
  size_t groups() const { return groups_.size(); }
  std::string fault() const {
    if (!fault_.empty()) return fault_;
    for (const auto& [number, g] : groups_)
      for (const bool stored : g.stored)
        if (!stored) return "not stored";
    return "";
  }

 private:
  void substitute(bool backward, const RhsGroup& of, int64_t first, int64_t last, int64_t row,
                  int64_t row_end) {
    if (row == hold_) {
      hold_ = -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const std::lock_guard lock(mutex_);
    Group& g = group(of);
    const int64_t from = first / kStep, to = (last + kStep - 1) / kStep;
    for (int64_t i = row / kStep; i * kStep < row_end; ++i) {
      expect(g.loaded[i], "not loaded", i);
      if (first == row) {
        // Updates within the block are included.
        int64_t& taken = backward ? g.backward[i] : g.forward[i];
        expect(taken == (backward ? steps_ - to : from), "solved too early", i);
        if (backward)
          expect(g.forward[i] == i + 1, "backward substitution before forward substitution", i);
        taken = backward ? steps_ - i : i + 1;
      } else if (!backward) {
        expect(g.forward[i] == from, "forward updates out of order", i);
        for (int64_t k = from; k < to; ++k) expect(g.forward[k] == k + 1, "not solved", k);
        g.forward[i] = to;
      } else {
        expect(g.backward[i] == steps_ - to, "backward updates out of order", i);
        for (int64_t k = from; k < to; ++k) expect(g.backward[k] == steps_ - k, "not solved", k);
        g.backward[i] = steps_ - from;
      }
    }
  }

  Group& group(const RhsGroup& of) {
    Group& g = groups_[of.number];
    if (g.loaded.empty())
      g = {std::vector<int64_t>(steps_), std::vector<int64_t>(steps_), std::vector<bool>(steps_),
           std::vector<bool>(steps_)};
    return g;
  }
  void expect(bool holds, const char* fault, int64_t i) {
    if (!holds && fault_.empty()) fault_ = std::string(fault) + ": " + std::to_string(i);
  }

  int64_t steps_;
  bool in_place_;
  std::mutex mutex_;
  std::map<int64_t, Group> groups_;
  std::string fault_;
  std::atomic<int64_t> hold_{-1};
};

void solve(Board& board, int64_t n, int64_t nrhs, int threads, int64_t block = 0) {
  TileSolve tiles(board, n, nrhs, threads, block);
  Arena counted;
  tiles.carve(counted);
  std::vector<char> memory(counted.used() + Arena::kAlignment);
  Arena arena(memory.data(), memory.size());
  tiles.carve(arena);
  tiles.run();
}

TEST(TileSolve, NothingStartsTooEarly) {
  for (const int64_t n : {5, 64, 65, 640, 1000})
    for (const int64_t nrhs : {1, 8, 9, 100, 500})
      for (const int threads : {1, 2, 5, 16}) {
        Board board(n);
        solve(board, n, nrhs, threads);
        ASSERT_EQ(board.fault(), "") << n << ", " << nrhs << ", " << threads << " threads";
      }
}

/// A vector is solved in place.
TEST(TileSolve, OneVectorInPlace) {
  for (const int64_t n : {5, 64, 65, 640, 1000})
    for (const int threads : {1, 2, 5, 16}) {
      Board board(n, true);
      solve(board, n, 1, threads, kStep);
      board.store({0, {0, 1}}, {0, n});
      ASSERT_EQ(board.fault(), "") << n << ", " << threads << " threads";
      ASSERT_EQ(board.groups(), 1u);
    }
}

/// A few right-hand sides with many threads form several groups, and so do many with one thread.
TEST(TileSolve, GroupsFitThreadsAndCache) {
  Board few(1000), many(1000), one(1000);
  solve(few, 1000, 100, 16);
  solve(many, 1000, 1500, 1);
  solve(one, 1000, 8, 16);
  EXPECT_EQ(few.groups(), 6u);
  EXPECT_EQ(many.groups(), 3u);
  EXPECT_EQ(one.groups(), 1u);
}

/// A worker that is stopped in a task delays only that task.
TEST(TileSolve, ContinuesAfterADelayedTask) {
  Board board(1000);
  board.hold(64);
  solve(board, 1000, 100, 4);
  EXPECT_EQ(board.fault(), "");
}

}  // namespace
}  // namespace chol::tile
