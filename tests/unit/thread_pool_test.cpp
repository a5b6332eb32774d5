// Unit tests of the thread pool: threads that cannot be created, are busy, are stopped during a
// task, or belong to another process. pthread_create is replaced in this file.
#include "base/threads/thread_pool.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/threads/floating_point_mode.hpp"
#include "base/threads/parallel_for.hpp"
#include "support/child.hpp"

namespace {

std::atomic<bool> threads_can_be_created{true};
/// One of so many threads can be created; 1: all of them.
std::atomic<int> threads_to_try{1};
std::atomic<int> threads_tried{0};

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) {
  const bool is_of_pool = attributes;  // std::thread has none
  if (is_of_pool && (!threads_can_be_created || ++threads_tried % threads_to_try != 0))
    return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create original = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return original(thread, attributes, body, argument);
}

namespace chol {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::holds_in_child;

/// Waits for a condition that other threads make true, with a timeout.
template <class Condition>
bool comes_true(Condition&& condition) {
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

/// A loop over `count` indices that records how often each was executed and by which worker.
class Counted {
 public:
  explicit Counted(int64_t count) : times_(static_cast<size_t>(count)) {}
  void run(const LoopPartition& cuts, int threads) {
    parallel_for(cuts, threads, [&](int64_t i, bool, int worker) { note(i, worker); });
  }
  void note(int64_t i, int worker) {
    times_[static_cast<size_t>(i)].fetch_add(1);
    const std::lock_guard lock(mutex_);
    workers_.insert(worker);
  }
  bool every_index_once() const {
    for (const std::atomic<int>& times : times_)
      if (times != 1) return false;
    return true;
  }
  const std::set<int>& workers() const { return workers_; }

 private:
  std::vector<std::atomic<int>> times_;
  std::mutex mutex_;
  std::set<int> workers_;
};

TEST(ThreadPool, EveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 7, 100, 1000})
    for (const int threads : {1, 2, 3, 8})
      for (const int64_t chunk : {1, 3, 64})
        for (const int shares : {1, threads}) {
          Counted counted(count);
          counted.run({count, chunk, shares}, threads);
          ASSERT_TRUE(counted.every_index_once()) << count << " " << threads << " " << chunk;
          for (const int worker : counted.workers()) ASSERT_LT(worker, threads);
        }
}

TEST(ThreadPool, HelpersJoin) {
  std::atomic<int> together{0};
  // Each of two workers waits for the other: this ends only when a helper comes.
  const auto meet = [&](int64_t, bool, int) {
    together.fetch_add(1);
    EXPECT_TRUE(comes_true([&] { return together >= 2; }));
  };
  const CallScope call(false);
  parallel_for({2, 1, 1}, 2, meet);
  EXPECT_EQ(call.workers(), 2);
}

TEST(ThreadPool, LittleWorkUsesNoHelpers) {
  const CallScope call(false);
  for (int round = 0; round < 1000; ++round) {
    Counted counted(10);
    counted.run({10, 1, 1, 100}, 8);
    ASSERT_TRUE(counted.every_index_once());
  }
  EXPECT_EQ(call.workers(), 1);
}

/// Work whose helpers stay inside a task until they are released.
class HeldHelpers {
 public:
  /// Returns when `helpers` helpers hold a task.
  explicit HeldHelpers(int helpers) {
    caller_ = std::thread([this, helpers] {
      parallel_for({helpers + 1, 1, 1}, helpers + 1, [&](int64_t, bool, int) {
        held_.fetch_add(1);
        EXPECT_TRUE(comes_true([this] { return released_.load(); }));
      });
      returned_ = true;
    });
    EXPECT_TRUE(comes_true([&] { return held_ == helpers + 1; }));
  }
  ~HeldHelpers() {
    EXPECT_FALSE(returned_) << "a call returned before its tasks were done";
    released_ = true;
    caller_.join();
  }

 private:
  std::atomic<int> held_{0};
  std::atomic<bool> released_{false}, returned_{false};
  std::thread caller_;
};

TEST(ThreadPool, ACallerDoesAllWorkIfEveryHelperIsBusy) {
  const int helpers = std::max(3, ThreadPool::instance().threads());
  const HeldHelpers held(helpers);
  ASSERT_EQ(ThreadPool::instance().threads(), helpers);
  for (int round = 0; round < 100; ++round) {
    Counted counted(50);
    counted.run({50, 1, 3}, 3);
    ASSERT_TRUE(counted.every_index_once());
    ASSERT_EQ(counted.workers(), std::set<int>{0});
  }
}

/// A call during a long one gets helpers, which return to the long one afterwards.
TEST(ThreadPool, ALongCallSharesItsHelpers) {
  const int threads = std::max(4, ThreadPool::instance().threads()) + 1;
  std::mutex mutex;
  std::set<int> workers;
  std::atomic<bool> over{false};
  const auto step = [] { std::this_thread::sleep_for(milliseconds(1)); };
  std::thread caller([&] {
    parallel_for({1000000, 1, 1}, threads, [&](int64_t, bool, int worker) {
      if (over) return;
      step();
      const std::lock_guard lock(mutex);
      workers.insert(worker);
    });
  });
  const auto has_all = [&] {
    const std::lock_guard lock(mutex);
    return workers.size() == static_cast<size_t>(threads);
  };
  EXPECT_TRUE(comes_true(has_all));
  EXPECT_TRUE(comes_true([&] {
    Counted counted(50);
    parallel_for({50, 1, 1}, threads, [&](int64_t i, bool, int worker) {
      step();
      counted.note(i, worker);
    });
    return counted.every_index_once() && counted.workers().size() > 1;
  }));
  {
    const std::lock_guard lock(mutex);
    workers.clear();
  }
  EXPECT_TRUE(comes_true(has_all));
  over = true;
  caller.join();
}

TEST(ThreadPool, SixtyFourCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 64; ++caller)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        Counted counted(64);
        counted.run({64, 2, 4}, 4);
        if (!counted.every_index_once()) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ALoopInsideALoop) {
  std::atomic<int> inner{0};
  parallel_for({8, 1, 1}, 4, [&](int64_t, bool, int) {
    parallel_for({16, 1, 1}, 4, [&](int64_t, bool, int) { inner.fetch_add(1); });
  });
  EXPECT_EQ(inner, 8 * 16);
}

/// A callback of the caller that throws.
class Throwing final : public TeamWork {
 public:
  Outcome advance(int worker) override {
    if (worker == 0) throw std::runtime_error("callback");
    return Outcome::finished;
  }
};

TEST(ThreadPool, AnExceptionOfTheCallerReleasesTheSlot) {
  for (int round = 0; round < 100; ++round) {
    Throwing work;
    EXPECT_THROW(ThreadPool::instance().run(work, {3, 1e9}), std::runtime_error);
  }
  Counted counted(50);
  counted.run({50, 1, 1}, 3);
  EXPECT_TRUE(counted.every_index_once());
}

#if defined(__x86_64__)
/// Flushed or not, a subnormal number is the same for every worker.
TEST(ThreadPool, HelpersComputeInTheModeOfTheCaller) {
  constexpr uint64_t kFlushToZero = 0x8000;
  const uint64_t before = floating_point_mode();
  for (const bool flushes : {true, false}) {
    set_floating_point_mode(flushes ? before | kFlushToZero : before);
    std::atomic<int> together{0}, zeros{0};
    parallel_for({2, 1, 1}, 2, [&](int64_t, bool, int) {
      volatile double smallest = 2.2250738585072014e-308, half = 0.5;
      if (smallest * half == 0) zeros.fetch_add(1);
      together.fetch_add(1);
      EXPECT_TRUE(comes_true([&] { return together >= 2; }));
    });
    set_floating_point_mode(before);
    EXPECT_EQ(zeros, flushes ? 2 : 0);
  }
}
#endif

/// Sequential steps: each is ready after the one before. Workers wait.
class Chain final : public TeamWork {
 public:
  explicit Chain(int steps) : steps_(steps) {}
  Outcome advance(int) override {
    for (;;) {
      const int done = done_.load(std::memory_order_acquire);
      if (done == steps_) return Outcome::finished;
      int free = done;
      if (!taken_.compare_exchange_strong(free, done + 1)) return Outcome::waiting;
      sum_ += done;  // a race if two steps ever overlap
      if (done % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      done_.store(done + 1, std::memory_order_release);
      changes->raise(Signal::kAll);
    }
  }
  int64_t sum() const { return sum_; }

 private:
  int steps_;
  int64_t sum_ = 0;
  std::atomic<int> taken_{0}, done_{0};
};

TEST(ThreadPool, WorkersThatWaitAreWoken) {
  for (const int workers : {1, 2, 5}) {
    Chain chain(400);
    ThreadPool::instance().run(chain, {workers, 1e9});
    ASSERT_EQ(chain.sum(), 400 * 399 / 2);
  }
}

bool loop_is_right(int threads) {
  Counted counted(100);
  counted.run({100, 1, 1}, threads);
  return counted.every_index_once();
}

TEST(ThreadPool, AChildHasHelpersOfItsOwn) {
  ASSERT_TRUE(loop_is_right(3));
  const HeldHelpers held(2);  // by a thread that does not exist in the child
  EXPECT_TRUE(holds_in_child([] {
    if (!loop_is_right(3)) return false;
    std::atomic<int> together{0};
    parallel_for({2, 1, 1}, 2, [&](int64_t, bool, int) {
      together.fetch_add(1);
      EXPECT_TRUE(comes_true([&] { return together >= 2; }));
    });
    return ThreadPool::instance().threads() > 0;
  }));
}

TEST(ThreadPool, AThreadThatCannotBeCreatedIsASmallerTeam) {
  threads_can_be_created = false;
  EXPECT_TRUE(
      holds_in_child([] { return loop_is_right(64) && ThreadPool::instance().threads() == 0; }));
  const int before = ThreadPool::instance().threads();
  EXPECT_TRUE(loop_is_right(before + 10));
  EXPECT_EQ(ThreadPool::instance().threads(), before);
  threads_can_be_created = true;
}

/// Callers with different numbers of threads, while every other thread cannot be created.
TEST(ThreadPool, ThreadsThatCannotBeCreatedAtTimes) {
  threads_to_try = 2;
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 32; ++caller)
    callers.emplace_back([&, threads = ThreadPool::instance().threads() + caller] {
      for (int round = 0; round < 50; ++round) wrong += !loop_is_right(threads);
    });
  for (std::thread& caller : callers) caller.join();
  threads_to_try = 1;
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace chol
