// The order of a solve's tasks on one matrix, with dummy kernels, which record the known unknowns
// and detect tasks that are too early or repeated.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/single/tile_potrs.hpp"

namespace chol::host {
namespace {

constexpr int64_t kStep = 64;

/// The unknowns of one group, in steps of the smallest block: the number of updates of each.
struct Group {
  std::vector<int64_t> forward, backward;
  std::vector<bool> loaded, stored;
};

class Board {
 public:
  explicit Board(int64_t n) : steps_((n + kStep - 1) / kStep) {}

  void load(const void* buffer, int64_t row, int64_t row_end) {
    const std::lock_guard lock(mutex_);
    Group& g = group(buffer);
    for (int64_t i = row / kStep; i * kStep < row_end; ++i) {
      expect(!g.loaded[i], "loaded twice", i);
      g.loaded[i] = true;
    }
  }
  void store(const void* buffer, int64_t row, int64_t row_end) {
    const std::lock_guard lock(mutex_);
    Group& g = group(buffer);
    for (int64_t i = row / kStep; i * kStep < row_end; ++i) {
      expect(g.backward[i] == steps_ - i, "stored before it was known", i);
      expect(!g.stored[i], "stored twice", i);
      g.stored[i] = true;
    }
  }
  void substitute(const void* buffer, bool backward, int64_t first, int64_t last, int64_t row,
                  int64_t row_end) {
    if (row == hold_) {
      hold_ = -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const std::lock_guard lock(mutex_);
    Group& g = group(buffer);
    const int64_t from = first / kStep, to = (last + kStep - 1) / kStep;
    for (int64_t i = row / kStep; i * kStep < row_end; ++i) {
      expect(g.loaded[i], "not loaded", i);
      if (first == row) {
        // Updates within the block are included.
        int64_t& taken = backward ? g.backward[i] : g.forward[i];
        expect(taken == (backward ? steps_ - to : from), "known too early", i);
        if (backward) expect(g.forward[i] == i + 1, "back before it was there", i);
        taken = backward ? steps_ - i : i + 1;
      } else if (!backward) {
        expect(g.forward[i] == from, "forward out of order", i);
        for (int64_t k = from; k < to; ++k) expect(g.forward[k] == k + 1, "not known", k);
        g.forward[i] = to;
      } else {
        expect(g.backward[i] == steps_ - to, "backward out of order", i);
        for (int64_t k = from; k < to; ++k) expect(g.backward[k] == steps_ - k, "not known", k);
        g.backward[i] = steps_ - from;
      }
    }
  }

  void hold(int64_t row) { hold_ = row; }
  size_t groups() const { return groups_.size(); }
  std::string fault() const {
    if (!fault_.empty()) return fault_;
    for (const auto& [buffer, g] : groups_)
      for (const bool stored : g.stored)
        if (!stored) return "not stored";
    return "";
  }

 private:
  Group& group(const void* buffer) {
    Group& g = groups_[buffer];
    if (g.loaded.empty())
      g = {std::vector<int64_t>(steps_), std::vector<int64_t>(steps_), std::vector<bool>(steps_),
           std::vector<bool>(steps_)};
    return g;
  }
  void expect(bool holds, const char* fault, int64_t i) {
    if (!holds && fault_.empty()) fault_ = std::string(fault) + ": " + std::to_string(i);
  }

  int64_t steps_;
  std::mutex mutex_;
  std::map<const void*, Group> groups_;
  std::string fault_;
  std::atomic<int64_t> hold_{-1};
};

Kernels noting_kernels() {
  Kernels k{};
  k.strip_rows = static_cast<int>(kStep);
  k.strip_width = 8;
  k.solve_buffer_bytes = [](int64_t n, int64_t nrhs) {
    return static_cast<size_t>(n * 8 + n * nrhs);
  };
  k.load_rhs = [](const PanelMatrix& M, void*, int64_t, int64_t, int64_t, int64_t row,
                  int64_t row_end,
                  void* buffer) { static_cast<Board*>(M.A)->load(buffer, row, row_end); };
  k.store_rhs = [](const PanelMatrix& M, void*, int64_t, int64_t, int64_t, int64_t row,
                   int64_t row_end,
                   void* buffer) { static_cast<Board*>(M.A)->store(buffer, row, row_end); };
  k.substitute = [](const PanelMatrix& M, bool backward, int64_t, int64_t first, int64_t last,
                    int64_t row, int64_t row_end, void* buffer) {
    static_cast<Board*>(M.A)->substitute(buffer, backward, first, last, row, row_end);
  };
  k.substitute_vector = [](const PanelMatrix& M, bool backward, int64_t first, int64_t last,
                           int64_t row, int64_t row_end, void* x) {
    static_cast<Board*>(M.A)->substitute(x, backward, first, last, row, row_end);
  };
  return k;
}

void solve(Board& board, int64_t n, int64_t nrhs, int threads, int64_t segment = 0) {
  const Kernels kernels = noting_kernels();
  TileSolve tiles(kernels, 1, 1, n, nrhs, threads, segment);
  Arena counted;
  tiles.carve(counted);
  std::vector<char> memory(counted.used() + Arena::kAlignment);
  Arena arena(memory.data(), memory.size());
  tiles.carve(arena);
  tiles.run({false, n, &board, n}, nullptr, n);
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

/// A vector is solved in place, one segment at a time.
TEST(TileSolve, OneVectorInPlace) {
  for (const int64_t n : {5, 64, 65, 640, 1000})
    for (const int threads : {1, 2, 5, 16}) {
      Board board(n);
      board.load(nullptr, 0, n);
      solve(board, n, 1, threads, kStep);
      board.store(nullptr, 0, n);
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
}  // namespace chol::host
