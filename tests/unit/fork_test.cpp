// Handles after fork(): R's multicore, Python's multiprocessing. The parent's OpenMP threads are
// not in the child, which must neither wait for them nor give other bits.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/handle.hpp"

namespace chol::test {
namespace {

constexpr int64_t kOrder = 700;  // work for several threads
constexpr int kThreads = 3;

/// The factor of a fixed matrix.
std::vector<double> factor(chol_handle_t handle) {
  std::vector<double> A(kOrder * kOrder, 0.25);
  for (int64_t i = 0; i < kOrder; ++i) A[i * (kOrder + 1)] = static_cast<double>(kOrder);
  int info = -1;
  const chol_status_t status = chol_dpotrf(handle, CHOL_LOWER, kOrder, A.data(), kOrder, &info);
  if (status != CHOL_STATUS_SUCCESS || info != 0) A.clear();
  return A;
}

/// Runs body() in a child that is ended when it hangs; whether it returned true.
template <class Body>
bool succeeds_in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

/// AddressSanitizer (as of GCC 12) does not guard fork() against the locks that ending threads take
/// in it: a child may inherit one that nobody gives back. So under it, which only the library is
/// compiled for, a process that is to fork waits for the team of its last call to be gone. The
/// links of its directory of threads count them; who reads it may miss one while another ends.
void let_team_end() {
  if (!dlsym(RTLD_DEFAULT, "__asan_init")) return;
  constexpr std::uintmax_t kOfADirectoryAlone = 2;
  while (std::filesystem::hard_link_count("/proc/self/task") > kOfADirectoryAlone + 1)
    std::this_thread::yield();
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("CHOL_TEST_ONE_THREAD")) GTEST_SKIP() << "OpenMP threads";
  }
  const Handle handle_{CHOL_BACKEND_HOST, kThreads};
};

TEST_F(Fork, TheParentsHandle) {
  const std::vector<double> expected = factor(handle_);
  ASSERT_FALSE(expected.empty());
  EXPECT_TRUE(succeeds_in_child([&] { return factor(handle_) == expected; }));
  EXPECT_TRUE(factor(handle_) == expected);
}

TEST_F(Fork, ANewHandle) {
  const std::vector<double> expected = factor(handle_);
  EXPECT_TRUE(succeeds_in_child([&] {
    const Handle own(CHOL_BACKEND_HOST, kThreads);
    return factor(own) == expected && factor(own) == expected;
  }));
}

TEST_F(Fork, AGrandchild) {
  const std::vector<double> expected = factor(handle_);
  EXPECT_TRUE(succeeds_in_child([&] {
    if (factor(handle_) != expected) return false;
    let_team_end();
    return succeeds_in_child([&] { return factor(handle_) == expected; });
  }));
}

TEST_F(Fork, BeforeTheFirstCall) {
  EXPECT_TRUE(succeeds_in_child([&] { return !factor(handle_).empty(); }));
}

}  // namespace
}  // namespace chol::test
