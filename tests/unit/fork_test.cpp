// Handles after fork(): R's multicore, Python's multiprocessing. The parent's threads do not exist
// in the child, which must neither wait for them nor give other bits.
#include <vector>

#include "support/child.hpp"
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

class Fork : public testing::Test {
 protected:
  const Handle handle_{CHOL_BACKEND_HOST, kThreads};
};

TEST_F(Fork, TheParentsHandle) {
  const std::vector<double> expected = factor(handle_);
  ASSERT_FALSE(expected.empty());
  EXPECT_TRUE(holds_in_child([&] { return factor(handle_) == expected; }));
  EXPECT_TRUE(factor(handle_) == expected);
}

TEST_F(Fork, ANewHandle) {
  const std::vector<double> expected = factor(handle_);
  EXPECT_TRUE(holds_in_child([&] {
    const Handle own(CHOL_BACKEND_HOST, kThreads);
    return factor(own) == expected && factor(own) == expected;
  }));
}

TEST_F(Fork, AGrandchild) {
  const std::vector<double> expected = factor(handle_);
  EXPECT_TRUE(holds_in_child([&] {
    if (factor(handle_) != expected) return false;
    return holds_in_child([&] { return factor(handle_) == expected; });
  }));
}

TEST_F(Fork, BeforeTheFirstCall) {
  EXPECT_TRUE(holds_in_child([&] { return !factor(handle_).empty(); }));
}

}  // namespace
}  // namespace chol::test
