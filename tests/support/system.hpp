// Systems with known solutions for tests with concurrent threads, and the threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {

/// Solves and checks `batch` systems of order n; returns all bits of the solutions.
template <class T>
std::vector<T> solve_systems(chol_handle_t handle, Layout layout, chol_uplo_t uplo, int64_t n,
                             int64_t batch, uint64_t seed) {
  Random random(seed);
  Arrays<T> arrays(host_memory(), layout, uniform(batch, n, 1, 2, 1));
  const Dense<T> A = random_spd<T>(n, random), B = random_dense<T>(n, 2, random);
  for (int64_t b = 0; b < batch; ++b) {
    arrays.set_triangle(b, uplo, A);
    arrays.set_rhs(b, B);
  }
  EXPECT_EQ(arrays.run(handle, Function::posv, uplo), CHOL_STATUS_SUCCESS)
      << chol_last_error(handle);
  std::vector<T> all;
  for (int64_t b = 0; b < batch; ++b) {
    EXPECT_EQ(arrays.info(b), 0);
    EXPECT_TRUE(is_solution(arrays, b, A, B));
    const Dense<T> X = arrays.rhs(b);
    all.insert(all.end(), X.values.begin(), X.values.end());
  }
  return all;
}

inline long threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

}  // namespace chol::test
