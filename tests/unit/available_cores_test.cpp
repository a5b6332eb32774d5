// The default number of threads of a call: affinity, cgroup quotas, OpenMP's variables.
#include "base/threads/available_cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace chol {
namespace {

namespace fs = std::filesystem;

/// A tree of cgroups in a temporary folder.
class Quota : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/chol_cgroup_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    root_ = folder;
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  int cores(const std::string& memberships) {
    write("memberships", memberships);
    return cores_of_quota((root_ / "memberships").c_str(), root_.c_str());
  }
  fs::path root_;
};

TEST_F(Quota, OfVersionTwo) {
  write("a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 2);
  write("a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 0);
}

TEST_F(Quota, OfAGroupAbove) {
  write("a/cpu.max", "300000 100000\n");
  write("a/b/cpu.max", "800000 100000\n");
  EXPECT_EQ(cores("0::/a/b\n"), 3);
}

TEST_F(Quota, OfTheMountIfTheGroupIsOutsideTheContainer) {
  write("cpu.max", "50000 100000\n");
  EXPECT_EQ(cores("0::/not/visible\n"), 1);
}

TEST_F(Quota, OfVersionOne) {
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "400000\n");
  write("cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores("7:memory:/a\n4:cpu,cpuacct:/a\n0::/\n"), 4);
  write("cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores("4:cpu,cpuacct:/a\n"), 0);
}

TEST_F(Quota, NoneOrUnreadable) {
  EXPECT_EQ(cores(""), 0);
  EXPECT_EQ(cores("0::/\n"), 0);
  EXPECT_EQ(cores("rubbish\n\n::\n"), 0);
  write("cpu.max", "rubbish");
  EXPECT_EQ(cores("0::/\n"), 0);
  EXPECT_EQ(cores_of_quota("/nonexistent", "/nonexistent"), 0);
}

/// default_threads() of a new process with these variables, bound to `cores` cores or not (0).
int threads_with(const std::vector<std::pair<const char*, const char*>>& variables, int cores = 0) {
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("OMP_NUM_THREADS");
    unsetenv("OMP_THREAD_LIMIT");
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    if (cores > 0) {
      cpu_set_t all, some;
      sched_getaffinity(0, sizeof all, &all);
      CPU_ZERO(&some);
      for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&some) < cores; ++core)
        if (CPU_ISSET(core, &all)) CPU_SET(core, &some);
      sched_setaffinity(0, sizeof some, &some);
    }
    _exit(default_threads());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(DefaultThreads, FollowOpenMpsVariables) {
  const int usual = threads_with({});
  EXPECT_GE(usual, 1);
  EXPECT_LE(usual, count_cores_of_this_thread());
  EXPECT_EQ(threads_with({{"OMP_NUM_THREADS", "7"}}), 7);
  EXPECT_EQ(threads_with({{"OMP_NUM_THREADS", "3,2"}}), 3);
  EXPECT_EQ(threads_with({{"OMP_NUM_THREADS", " 5 "}}), 5);
  EXPECT_EQ(threads_with({{"OMP_NUM_THREADS", "7"}, {"OMP_THREAD_LIMIT", "2"}}), 2);
  EXPECT_EQ(threads_with({{"OMP_THREAD_LIMIT", "1"}}), 1);
  for (const char* rubbish : {"", "abc", "0", "-3", "2x", "1e3", "99999999999"})
    EXPECT_EQ(threads_with({{"OMP_NUM_THREADS", rubbish}}), usual) << rubbish;
}

TEST(DefaultThreads, AreBoundByTheAffinity) { EXPECT_EQ(threads_with({}, 1), 1); }

}  // namespace
}  // namespace chol
