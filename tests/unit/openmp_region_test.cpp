// Calls from OpenMP regions of the program: all cores are busy, so that no further thread is
// started.
#include <dirent.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/handle.hpp"

namespace chol::test {
namespace {

/// Number of threads of the library.
int helpers() {
  int count = 0;
  DIR* const folder = opendir("/proc/self/task");
  while (const dirent* entry = readdir(folder)) {
    std::string name;
    std::ifstream(std::string("/proc/self/task/") + entry->d_name + "/comm") >> name;
    count += name == "chol-helper";
  }
  closedir(folder);
  return count;
}

void factor(int threads = 3) {
  constexpr int64_t kOrder = 700;  // work for several threads
  std::vector<double> A(kOrder * kOrder, 0.25);
  for (int64_t i = 0; i < kOrder; ++i) A[i * (kOrder + 1)] = static_cast<double>(kOrder);
  const Handle handle(CHOL_BACKEND_HOST, threads);
  int info = -1;
  ASSERT_EQ(chol_dpotrf(handle, CHOL_LOWER, kOrder, A.data(), kOrder, &info), CHOL_STATUS_SUCCESS);
  ASSERT_EQ(info, 0);
}

TEST(OpenMpRegion, CallsInItHaveOneThread) {
#pragma omp parallel num_threads(2)
  factor();
  EXPECT_EQ(helpers(), 0);
  factor();
  EXPECT_GT(helpers(), 0);
}

TEST(OpenMpRegion, ItsNumberOfThreadsIsTheDefault) {
  const Handle handle(CHOL_BACKEND_HOST, 0);
  int usual = 0, limited = 0;
  ASSERT_EQ(chol_get_num_threads(handle, &usual), CHOL_STATUS_SUCCESS);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  ASSERT_EQ(chol_get_num_threads(handle, &limited), CHOL_STATUS_SUCCESS);
  omp_set_num_threads(before);
  EXPECT_EQ(limited, 1);
  EXPECT_GE(usual, limited);
}

/// Run with OMP_PROC_BIND: the runtime has bound this thread to one core before anything else.
TEST(OpenMpBinding, AllPlacesCount) {
  cpu_set_t own;
  ASSERT_EQ(sched_getaffinity(0, sizeof own, &own), 0);
  ASSERT_EQ(CPU_COUNT(&own), 1);
  const Handle handle(CHOL_BACKEND_HOST, 0);
  int threads = 0;
  ASSERT_EQ(chol_get_num_threads(handle, &threads), CHOL_STATUS_SUCCESS);
  EXPECT_EQ(threads, omp_get_num_procs());
  if (omp_get_num_procs() == 1) GTEST_SKIP() << "one core";
  factor(0);
  EXPECT_GT(helpers(), 0);
}

}  // namespace
}  // namespace chol::test
