// chol_info_summary on host arrays.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/handle.hpp"

namespace chol::test {
namespace {

TEST(InfoSummary, CountsAndFindsTheFirst) {
  const Handle handle;
  const struct {
    std::vector<int> info;
    int64_t failed, first;
  } kCases[] = {{{}, 0, -1},
                {{0}, 0, -1},
                {{3}, 1, 0},
                {{0, 0, 0, 0}, 0, -1},
                {{0, 0, -4, 7, 0}, 2, 2},
                {{1, 1, 1}, 3, 0},
                {{0, 0, 0, 9}, 1, 3}};
  for (const auto& c : kCases) {
    int64_t failed = 77, first = 77;
    const auto batch = static_cast<int64_t>(c.info.size());
    ASSERT_EQ(chol_info_summary(handle, c.info.data(), batch, &failed, &first),
              CHOL_STATUS_SUCCESS);
    EXPECT_EQ(failed, c.failed);
    EXPECT_EQ(first, c.first);
  }
}

TEST(InfoSummary, ChecksItsArguments) {
  const Handle handle;
  const int info[] = {0};
  int64_t failed = 77, first = 77;
  EXPECT_EQ(chol_info_summary(nullptr, info, 1, &failed, &first), CHOL_STATUS_INVALID_HANDLE);
  EXPECT_EQ(chol_info_summary(handle, nullptr, 1, &failed, &first), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), "chol_info_summary: info = NULL, must point to its elements");
  EXPECT_EQ(chol_info_summary(handle, info, -1, &failed, &first), CHOL_STATUS_INVALID_VALUE);
  EXPECT_STREQ(handle.last_error(), "chol_info_summary: batch = -1, must be at least 0");
  EXPECT_EQ(chol_info_summary(handle, info, 1, nullptr, &first), CHOL_STATUS_INVALID_VALUE);
  EXPECT_EQ(chol_info_summary(handle, info, 1, &failed, nullptr), CHOL_STATUS_INVALID_VALUE);
  EXPECT_EQ(failed, 77);
  EXPECT_EQ(first, 77);
}

}  // namespace
}  // namespace chol::test
