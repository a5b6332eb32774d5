// A process that can create no or few threads: calls are slower but do not terminate it.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "support/child.hpp"
#include "support/handle.hpp"
#include "support/system.hpp"

namespace chol::test {
namespace {

constexpr int64_t kOrder = 700;  // work for several threads

bool factors(int threads) {
  std::vector<double> A(kOrder * kOrder, 0.25);
  for (int64_t i = 0; i < kOrder; ++i) A[i * (kOrder + 1)] = static_cast<double>(kOrder);
  const Handle handle(CHOL_BACKEND_HOST, threads);
  int info = -1;
  return chol_dpotrf(handle, CHOL_LOWER, kOrder, A.data(), kOrder, &info) == CHOL_STATUS_SUCCESS &&
         info == 0;
}

/// Limits the address space to `bytes` more than now.
bool limit_address_space(size_t bytes) {
  long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  const bool known = file && std::fscanf(file, "%ld", &pages) == 1;
  if (file) std::fclose(file);
  const rlim_t limit = static_cast<rlim_t>(pages) * 4096 + bytes;
  const rlimit both{limit, limit};
  return known && setrlimit(RLIMIT_AS, &both) == 0;
}

/// RLIMIT_NPROC does not apply to root.
bool limit_processes() {
  const rlimit one{1, 1};
  constexpr uid_t kNobody = 65534;
  return setrlimit(RLIMIT_NPROC, &one) == 0 && (getuid() != 0 || setuid(kNobody) == 0);
}

TEST(ThreadLimits, NoProcessLeft) {
  EXPECT_TRUE(holds_in_child([] { return limit_processes() && factors(4); }));
}

TEST(ThreadLimits, NoMemoryForStacks) {
  for (const int threads : {4, 64, 20000})
    EXPECT_TRUE(holds_in_child([&] { return limit_address_space(30 << 20) && factors(threads); }))
        << threads;
}

TEST(ThreadLimits, ManyMoreThanCores) {
  EXPECT_TRUE(holds_in_child([] { return factors(300); }));
}

TEST(ThreadLimits, OpenMpsVariableAsksForMoreThanCores) {
  EXPECT_TRUE(holds_in_child([] {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &first);
    sched_setaffinity(0, sizeof first, &first);
    setenv("OMP_NUM_THREADS", "3", 1);
    return factors(0) && threads_of_this_process() == 3;
  }));
}

}  // namespace
}  // namespace chol::test
