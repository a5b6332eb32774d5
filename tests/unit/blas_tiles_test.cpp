// The trailing updates by a threaded BLAS: correct results, no more threads than requested, and an
// unchanged setting of the BLAS. The tuning file of this test names the method.
#include <omp.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "support/child.hpp"
#include "support/system.hpp"

extern "C" {
int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);
}

namespace chol::test {
namespace {

/// Number of runnable threads of this process.
int runnable_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    const size_t name_end = text.rfind(')');
    count += name_end != std::string::npos && text.compare(name_end, 3, ") R") == 0;
  }
  return count;
}

/// Maximum number of runnable threads during `body`, without the observer. Waits first for idle
/// BLAS threads that still spin.
template <class Body>
int most_runnable(Body&& body) {
  while (runnable_threads() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::atomic<bool> done{false};
  int most = 0;
  std::thread observer([&] {
    while (!done) {
      most = std::max(most, runnable_threads() - 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  body();
  done = true;
  observer.join();
  return most;
}

class BlasTiles : public testing::Test {
 protected:
  void SetUp() override {
    openblas_set_num_threads(kBlasThreads);
    omp_set_num_threads(kOpenMpThreads);
  }
  static constexpr int kBlasThreads = 3, kOpenMpThreads = 4;
};

TEST_F(BlasTiles, ThreadsAsRequested) {
  for (const int threads : {1, 2}) {
    const Handle handle(CHOL_BACKEND_HOST, threads);
    const Reference<double>& expected = reference<double>(700, 1);
    Arrays<double> arrays(host_memory(), Layout::one, uniform(1, 700));
    const auto factor = [&](int rounds) {
      for (int round = 0; round < rounds; ++round) {
        arrays.set_triangle(0, CHOL_LOWER, expected.A);
        run_well(arrays, handle, Function::potrf, CHOL_LOWER);
      }
    };
    factor(1);  // OpenMP's team has its size, and threads of a larger one have ended
    const int most = most_runnable([&] { factor(20); });
    EXPECT_LE(most, threads);
    EXPECT_TRUE(is_factor(arrays, 0, CHOL_LOWER, expected.A));
  }
}

TEST_F(BlasTiles, SettingsAreRestored) {
  const int before = openblas_get_num_threads(), openmp_before = omp_get_max_threads();
  for (const int threads : {1, 2}) {
    const Handle handle(CHOL_BACKEND_HOST, threads);
    solve_systems<float>(handle, Layout::one, CHOL_UPPER, 600, 1, 1);
    EXPECT_EQ(openblas_get_num_threads(), before);
    EXPECT_EQ(omp_get_max_threads(), openmp_before);
  }
}

TEST_F(BlasTiles, ConcurrentHandles) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([] {
      const Handle handle(CHOL_BACKEND_HOST, 2);
      for (int round = 0; round < 3; ++round)
        solve_systems<std::complex<double>>(handle, Layout::one, CHOL_LOWER, 300, 1, 2);
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(openblas_get_num_threads(), kBlasThreads);
}

/// A child of a process with another thread inside a call, which does not restore the setting in
/// the child.
TEST_F(BlasTiles, SettingsAreRestoredInAChild) {
  constexpr int kOverPthreads = 1;
  if (CHOL_TEST_OPENBLAS_KIND != kOverPthreads) GTEST_SKIP() << "the setting is OpenMP's";
  std::atomic<bool> over{false};
  std::thread other([&] {
    const Handle handle(CHOL_BACKEND_HOST, 1);
    while (!over) solve_systems<float>(handle, Layout::one, CHOL_LOWER, 900, 1, 1);
  });
  for (int round = 0; round < 20; ++round) {
    while (openblas_get_num_threads() != 1) std::this_thread::yield();
    EXPECT_TRUE(holds_in_child([] { return openblas_get_num_threads() == kBlasThreads; })) << round;
  }
  over = true;
  other.join();
  EXPECT_EQ(openblas_get_num_threads(), kBlasThreads);
}

}  // namespace
}  // namespace chol::test
