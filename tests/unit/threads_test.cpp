// Many threads with separate handles; also run under ThreadSanitizer.
#include <atomic>
#include <thread>

#include "support/system.hpp"

namespace chol::test {
namespace {

/// body(index) on `count` threads at once.
template <class Body>
void on_threads(int count, Body&& body) {
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      body(t);
    });
  for (std::thread& thread : threads) thread.join();
}

/// The same systems on every handle: the same bits everywhere.
template <class T>
void same_systems_everywhere(int handles, int threads_each) {
  const auto solve_all = [](chol_handle_t handle) {
    std::vector<T> all;
    for (const Layout layout : kLayouts)
      for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER})
        for (const int64_t n : {3, 16, 40, 130}) {
          const std::vector<T> part =
              solve_systems<T>(handle, layout, uplo, n, n > 100 ? 2 : 11, 5);
          all.insert(all.end(), part.begin(), part.end());
        }
    return all;
  };
  std::vector<std::vector<T>> results(static_cast<size_t>(handles));
  on_threads(handles, [&](int t) {
    for (int round = 0; round < 2; ++round) {
      const Handle handle(CHOL_BACKEND_HOST, threads_each);
      results[static_cast<size_t>(t)] = solve_all(handle);
    }
  });
  for (const std::vector<T>& result : results) ASSERT_EQ(result, results[0]);
}

TEST(Threads, SixteenWithHandlesOfOneThread) {
  same_systems_everywhere<double>(16, 1);
  same_systems_everywhere<std::complex<float>>(16, 1);
  if (short_run()) return;
  same_systems_everywhere<float>(16, 1);
  same_systems_everywhere<std::complex<double>>(16, 1);
}

TEST(Threads, FourWithHandlesOfThreeThreads) {
  same_systems_everywhere<double>(4, 3);
  same_systems_everywhere<std::complex<float>>(4, 3);
}

/// One handle may go from thread to thread.
TEST(Threads, AHandleThatMoves) {
  const Handle handle(CHOL_BACKEND_HOST, 1);
  for (int t = 0; t < 8; ++t)
    std::thread([&] {
      solve_systems<double>(handle, Layout::variable, CHOL_LOWER, 30 + t, 9, 1);
    }).join();
}

TEST(Threads, ErrorsStayWithTheirHandle) {
  on_threads(16, [](int t) {
    const Handle handle(CHOL_BACKEND_HOST, 1);
    double element = 1;
    int info = 0;
    for (int round = 0; round < 200; ++round) {
      ASSERT_EQ(chol_dpotrf(handle, CHOL_LOWER, -1 - t, &element, 1, &info),
                CHOL_STATUS_INVALID_VALUE);
      ASSERT_EQ("chol_dpotrf: n = " + std::to_string(-1 - t) + ", must be at least 0",
                handle.last_error());
    }
  });
}

}  // namespace
}  // namespace chol::test
