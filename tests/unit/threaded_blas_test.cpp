// A program that also uses a threaded BLAS: correct results with any mix of threads, and no more
// threads than set in the handle. Built once with OpenBLAS over pthreads and once over OpenMP.
#include <omp.h>

#include <thread>

#include "support/system.hpp"

extern "C" {
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void openblas_set_num_threads(int count);
int openblas_get_parallel(void);
}

namespace chol::test {
namespace {

/// A product large enough for OpenBLAS to use its threads: all ones, so that each element is n.
void multiply_in_blas() {
  constexpr int n = 300;
  const std::vector<double> ones(n * n, 1.0);
  std::vector<double> product(n * n);
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, ones.data(), &n, ones.data(), &n, &zero, product.data(), &n);
  EXPECT_EQ(product, std::vector<double>(n * n, n));
}

void solve_some(chol_handle_t handle) {
  solve_systems<double>(handle, Layout::one, CHOL_LOWER, 600, 1, 1);
  solve_systems<double>(handle, Layout::strided, CHOL_UPPER, 20, 300, 2);
  solve_systems<float>(handle, Layout::batched, CHOL_LOWER, 90, 20, 3);
}

class ThreadedBlas : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openblas_get_parallel(), CHOL_TEST_OPENBLAS_KIND) << "another OpenBLAS was loaded";
    openblas_set_num_threads(2);
    multiply_in_blas();
  }
};

TEST_F(ThreadedBlas, NoMoreThreadsThanSet) {
  const long before = threads_of_this_process();
  {
    const Handle handle(CHOL_BACKEND_HOST, 1);
    solve_some(handle);
    EXPECT_EQ(threads_of_this_process(), before);
  }
  for (const int threads : {2, 3, 5}) {
    const Handle handle(CHOL_BACKEND_HOST, threads);
    solve_some(handle);
    multiply_in_blas();
    solve_some(handle);
    EXPECT_LE(threads_of_this_process(), before + threads - 1);
  }
}

TEST_F(ThreadedBlas, ThreadsThatCallBoth) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      const Handle handle(CHOL_BACKEND_HOST, 2);
      for (int round = 0; round < 3; ++round) {
        multiply_in_blas();
        solve_some(handle);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

/// Calls from a parallel region run in the calling thread.
TEST_F(ThreadedBlas, ParallelRegionsThatCallBoth) {
  const long before = threads_of_this_process();
  constexpr int kTeam = 4;
#pragma omp parallel num_threads(kTeam)
  {
    const Handle handle(CHOL_BACKEND_HOST, 3);
    solve_some(handle);
    multiply_in_blas();
    solve_some(handle);
  }
  EXPECT_LE(threads_of_this_process(), before + kTeam - 1);
}

}  // namespace
}  // namespace chol::test
