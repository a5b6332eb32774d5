// potrf on grids of orders, batch sizes, paddings and memories.
#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int kVariants = 5;

/// Factors reference matrices of the given shapes and checks every one.
template <class T>
void factor_references(const Setting& s, chol_handle_t handle, std::vector<Shape> shapes,
                       Placement placement) {
  Arrays<T> arrays(s.memory, s.layout, std::move(shapes), placement);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    arrays.set_triangle(b, s.uplo,
                        reference<T>(arrays.shape(b).n, static_cast<int>(b % kVariants)).A);
    arrays.spoil_diagonal(b);
  }
  run_well(arrays, handle, Function::potrf, s.uplo);
  for (int64_t b = 0; b < arrays.batch(); ++b)
    ASSERT_TRUE(is_factor(arrays, b, s.uplo,
                          reference<T>(arrays.shape(b).n, static_cast<int>(b % kVariants)).A));
}

std::vector<int64_t> batch_sizes(const Setting& s) {
  if (s.layout == Layout::one) return {kVariants};
  if (short_run()) return {0, 1, 2, 7, 9, 17};
  return {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 100};
}

CHOL_TEST(Potrf, SmallOrdersInEveryBatch, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : small_orders())
    for (const int64_t batch : batch_sizes(s))
      for (const int64_t pad : {0, 3}) {
        if (!takes(s, n + batch + pad, 2)) continue;
        SCOPED_TRACE(testing::Message() << "n " << n << " batch " << batch << " pad " << pad);
        factor_references<T>(s, handle, uniform(batch, n, pad), {pad, 2 * pad, Edge::end});
        if (testing::Test::HasFailure()) return;
      }
}

CHOL_TEST(Potrf, BlockOrders, kEverywhere) {
  const Handle handle(s.memory.backend());
  constexpr int64_t kLargestInBatch = 200;
  for (const int64_t n : block_orders())
    for (const int64_t pad : {0, 5}) {
      if (!takes(s, n + pad, 2)) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " pad " << pad);
      const int64_t batch = n <= kLargestInBatch && s.layout != Layout::one ? 3 : 1;
      factor_references<T>(s, handle, uniform(batch, n, pad), {pad % 3, 0, Edge::end});
      if (testing::Test::HasFailure()) return;
    }
}

CHOL_TEST(Potrf, EveryOffsetAndEdge, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 3, 4, 5, 8, 12, 16, 17, 24, 31, 33, 50, 100})
    for (const int64_t offset : {0, 1, 2, 3, 5, 7})
      for (const Edge edge : {Edge::start, Edge::end}) {
        if (!takes(s, n + offset + (edge == Edge::end), 2)) continue;
        SCOPED_TRACE(testing::Message() << "n " << n << " offset " << offset);
        factor_references<T>(s, handle, uniform(5, n, offset % 2),
                             {offset, edge == Edge::start ? offset : 0, edge});
      }
}

/// Orders 0 to 150 and a few of 300; padding, where there is any, differs from matrix to matrix.
std::vector<Shape> mixed_shapes(int64_t batch, int64_t largest, Random& random) {
  std::vector<Shape> shapes;
  for (int64_t b = 0; b < batch; ++b) {
    int64_t n = random.integer(0, largest);
    if (largest == 150 && random.chance(0.03)) n = random.integer(295, 301);
    shapes.push_back({n, std::max<int64_t>(n, 1) + random.integer(0, 4), 0, 1});
  }
  return shapes;
}

CHOL_TEST(Potrf, MixedOrders, kEverywhere) {
  if (!mixes_orders(s.layout)) GTEST_SKIP() << "one order only";
  const Handle handle(s.memory.backend());
  Random random(1);
  for (const int64_t batch : batch_sizes(s))
    for (const int64_t largest : {4, 9, 17, 33, 70, 150}) {
      SCOPED_TRACE(testing::Message() << "batch " << batch << " largest order " << largest);
      factor_references<T>(s, handle, mixed_shapes(batch, largest, random),
                           {random.integer(0, 3), random.integer(0, 2), Edge::end});
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace chol::test
