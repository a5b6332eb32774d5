// The cores on which helpers run: those of their caller, independent of their creator, also when
// they change.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "base/threads/parallel_for.hpp"
#include "support/child.hpp"

namespace chol {
namespace {

cpu_set_t cores_of(pid_t thread) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(thread, sizeof cores, &cores), 0);
  return cores;
}

/// A set with only the number-th core of a set.
cpu_set_t one_of(const cpu_set_t& cores, int number) {
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &cores) && number-- == 0) CPU_SET(core, &one);
  return one;
}

void bind(const cpu_set_t& cores) { sched_setaffinity(0, sizeof cores, &cores); }

/// The cores of helpers in calls of the current thread, after waiting for one.
cpu_set_t cores_of_helpers() {
  using Clock = std::chrono::steady_clock;
  cpu_set_t found;
  CPU_ZERO(&found);
  std::mutex mutex;
  while (CPU_COUNT(&found) == 0) {
    std::atomic<int> together{0};
    parallel_for({3, 1, 1}, 3, [&](int64_t, bool, int worker) {
      if (worker > 0) {
        const cpu_set_t cores = cores_of(0);
        const std::lock_guard lock(mutex);
        CPU_OR(&found, &found, &cores);
      }
      together.fetch_add(1);
      const auto end = Clock::now() + std::chrono::milliseconds(50);
      while (together < 3 && Clock::now() < end) std::this_thread::yield();
    });
  }
  return found;
}

bool equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

bool is_within(const cpu_set_t& some, const cpu_set_t& all) {
  cpu_set_t both;
  CPU_OR(&both, &some, &all);
  return CPU_EQUAL(&both, &all);
}

class HelperCoresOf : public testing::Test {
 protected:
  void SetUp() override {
    if (CPU_COUNT(&all_) < 2) GTEST_SKIP() << "one core";
  }
  const cpu_set_t all_ = cores_of(0);
};

TEST_F(HelperCoresOf, AProcessWhoseCoresChange) {
  EXPECT_TRUE(test::holds_in_child([&] {
    for (int round = 0; round < 20; ++round) {
      const cpu_set_t one = one_of(all_, round % 2);
      bind(one);
      if (!equal(cores_of_helpers(), one)) return false;
      bind(all_);
      if (!is_within(cores_of_helpers(), all_)) return false;
    }
    // At some time all cores, possibly except the caller's.
    for (int round = 0; round < 1000; ++round) {
      const cpu_set_t cores = cores_of_helpers();
      if (CPU_COUNT(&cores) >= CPU_COUNT(&all_) - 1) return true;
    }
    return false;
  }));
}

TEST_F(HelperCoresOf, ABoundThreadOfAProcessThatIsNot) {
  EXPECT_TRUE(is_within(cores_of_helpers(), all_));
  std::thread([&] {
    const cpu_set_t own = one_of(all_, 0);
    bind(own);
    // It requests more threads than it has cores.
    EXPECT_FALSE(equal(cores_of_helpers(), own));
  }).join();
}

TEST_F(HelperCoresOf, CallersThatAreBoundToDifferentOnes) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        bind(one_of(all_, (caller + round) % 2));
        std::atomic<int> done{0};
        parallel_for({8, 1, 1}, 2 + caller, [&](int64_t, bool, int) { ++done; });
        if (done != 8) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HelperCores, ComeBackAfterSeveralMoves) {
  const cpu_set_t before = cores_of(0);
  HelperCores cores;
  for (int move = 0; move < 4; ++move) cores.move_from(sched_getcpu());
  cores.allow_all();
  EXPECT_TRUE(equal(cores_of(0), before));
}

}  // namespace
}  // namespace chol
