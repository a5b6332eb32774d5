// potrs on LAPACK's factors, and posv.
#include <cmath>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int kVariants = 3;
const std::vector<int64_t> kRhsCounts = {0, 1, 2, 3, 7, 16, 33};

template <class T>
const Reference<T>& matrix_of(const Arrays<T>& arrays, int64_t b) {
  return reference<T>(arrays.shape(b).n, static_cast<int>(b % kVariants));
}

template <class T>
std::vector<Dense<T>> random_rhs(const Arrays<T>& arrays) {
  Random random(static_cast<uint64_t>(arrays.batch()));
  std::vector<Dense<T>> rhs;
  for (int64_t b = 0; b < arrays.batch(); ++b)
    rhs.push_back(random_dense<T>(arrays.shape(b).n, arrays.shape(b).nrhs, random));
  return rhs;
}

/// Solves reference systems of the given shapes; potrs gets the factor that LAPACK computed.
template <class T>
void solve_references(const Setting& s, chol_handle_t handle, Function function,
                      std::vector<Shape> shapes, Placement placement) {
  Arrays<T> arrays(s.memory, s.layout, std::move(shapes), placement);
  const std::vector<Dense<T>> rhs = random_rhs(arrays);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    const Reference<T>& matrix = matrix_of(arrays, b);
    arrays.set_triangle(b, s.uplo, function == Function::potrs ? matrix.L : matrix.A);
    arrays.spoil_diagonal(b);
    arrays.set_rhs(b, rhs[static_cast<size_t>(b)]);
  }
  run_well(arrays, handle, function, s.uplo);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    const Dense<T>& A = matrix_of(arrays, b).A;
    if (function == Function::posv) {
      ASSERT_TRUE(is_factor(arrays, b, s.uplo, A));
    }
    ASSERT_TRUE(is_solution(arrays, b, A, rhs[static_cast<size_t>(b)]));
  }
}

template <class T>
void small_orders_every_rhs(const Setting& s, Function function,
                            const std::vector<int64_t>& batches) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : small_orders())
    for (const int64_t nrhs : kRhsCounts)
      for (const int64_t batch : batches) {
        if (s.layout == Layout::one && batch != kVariants - 1) continue;
        if (!takes(s, n + nrhs + batch, short_run() ? 6 : 3)) continue;
        SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs << " batch " << batch);
        const int64_t pad = (n + batch) % 2 * 3;
        solve_references<T>(s, handle, function, uniform(batch, n, pad, nrhs, 3 - pad),
                            {batch % 3, pad, Edge::end});
        if (testing::Test::HasFailure()) return;
      }
}
CHOL_TEST(Potrs, SmallOrdersEveryRhs, kEverywhere) {
  small_orders_every_rhs<T>(s, Function::potrs, {0, 1, 2, 7, 8, 9, 17, 33});
}
CHOL_TEST(Posv, SmallOrdersEveryRhs, kEverywhere) {
  small_orders_every_rhs<T>(s, Function::posv, {0, 1, 2, 9, 16});
}

template <class T>
void block_orders_some_rhs(const Setting& s, Function function,
                           const std::vector<int64_t>& rhs_counts) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : block_orders())
    for (const int64_t nrhs : rhs_counts) {
      if (!takes(s, n + nrhs, 3)) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs);
      const int64_t pad = (n + nrhs) % 2 * 3;
      solve_references<T>(s, handle, function, uniform(n < 200 ? 3 : 1, n, pad, nrhs, 3 - pad),
                          {pad, 0, Edge::end});
      if (testing::Test::HasFailure()) return;
    }
}
CHOL_TEST(Potrs, BlockOrders, kEverywhere) {
  block_orders_some_rhs<T>(s, Function::potrs, {1, 2, 7, 16, 33});
}
CHOL_TEST(Posv, BlockOrders, kEverywhere) { block_orders_some_rhs<T>(s, Function::posv, {1, 16}); }

/// More right-hand sides than a thread takes at a time, 96, with and without a rest.
CHOL_TEST(Potrs, RhsInSteps, kEverywhere) {
  for (const int threads : {1, 3}) {
    const Handle handle(s.memory.backend(), threads);
    for (const int64_t n : {5, 33})
      for (const int64_t nrhs : {96, 97, 192, 203, 301}) {
        SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs << " threads " << threads);
        solve_references<T>(s, handle, Function::potrs, uniform(2, n, 1, nrhs, 2),
                            {1, 0, Edge::end});
        if (testing::Test::HasFailure()) return;
      }
  }
}

/// Systems that differ in order, padding and number of right-hand sides.
template <class T>
void mixed_systems(const Setting& s, Function function) {
  if (!mixes_orders(s.layout)) GTEST_SKIP() << "one order only";
  const Handle handle(s.memory.backend());
  Random random(3);
  for (const int64_t batch : {1, 2, 7, 8, 9, 16, 33, 100})
    for (const int64_t largest : {5, 17, 40, 150}) {
      if (short_run() && batch > 16) continue;
      SCOPED_TRACE(testing::Message() << "batch " << batch << " largest order " << largest);
      std::vector<Shape> shapes;
      for (int64_t b = 0; b < batch; ++b) {
        const int64_t n = random.chance(0.01) ? 300 : random.integer(0, largest);
        const int64_t floor = std::max<int64_t>(n, 1);
        shapes.push_back({n, floor + random.integer(0, 3),
                          kRhsCounts[static_cast<size_t>(random.integer(0, 6))],
                          floor + random.integer(0, 3)});
      }
      solve_references<T>(s, handle, function, std::move(shapes),
                          {random.integer(0, 3), random.integer(0, 2), Edge::end});
      if (testing::Test::HasFailure()) return;
    }
}
CHOL_TEST(Potrs, MixedSystems, kEverywhere) { mixed_systems<T>(s, Function::potrs); }
CHOL_TEST(Posv, MixedSystems, kEverywhere) { mixed_systems<T>(s, Function::posv); }

CHOL_TEST(Potrs, EveryOffsetAndEdge, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 3, 4, 5, 8, 12, 16, 17, 24, 33, 50, 100})
    for (const int64_t nrhs : {1, 5, 16})
      for (const int64_t offset : {0, 1, 2, 3, 5, 7})
        for (const Edge edge : {Edge::start, Edge::end}) {
          if (!takes(s, n + nrhs + offset + (edge == Edge::end), short_run() ? 6 : 3)) continue;
          SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs << " offset " << offset);
          solve_references<T>(s, handle, Function::potrs,
                              uniform(5, n, offset % 2, nrhs, (offset + 1) % 2),
                              {offset, edge == Edge::start ? offset : 0, edge});
          if (testing::Test::HasFailure()) return;
        }
}

/// Every third system is not positive definite: its B is not changed, the others are solved.
CHOL_TEST(Posv, BadAmongGood, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 2, 4, 5, 8, 13, 16, 24, 33, 64, 130})
    for (const int64_t nrhs : {1, 4, 17}) {
      if (!takes(s, n + nrhs, 2)) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs);
      Arrays<T> arrays(s.memory, s.layout, uniform(19, n, 1, nrhs, 2), {1, 3, Edge::end});
      const std::vector<Dense<T>> rhs = random_rhs(arrays);
      const auto pivot = [&](int64_t b) { return b * 5 % n; };
      for (int64_t b = 0; b < arrays.batch(); ++b) {
        Dense<T> A = matrix_of(arrays, b).A;
        if (b % 3 == 1) A(pivot(b), pivot(b)) = T(b % 2 ? -1 : std::nan(""));
        arrays.set_triangle(b, s.uplo, A);
        arrays.set_rhs(b, rhs[static_cast<size_t>(b)]);
      }
      run_well(arrays, handle, Function::posv, s.uplo);
      for (int64_t b = 0; b < arrays.batch(); ++b)
        if (b % 3 == 1)
          ASSERT_EQ(arrays.info(b), pivot(b) + 1);
        else
          ASSERT_TRUE(is_solution(arrays, b, matrix_of(arrays, b).A, rhs[static_cast<size_t>(b)]));
    }
}

template <class T, class Make>
void solve_made(const Setting& s, Make&& make) {
  const Handle handle(s.memory.backend());
  Random random(5);
  for (const int64_t n : {1, 2, 3, 5, 8, 11, 16, 17, 24, 33, 65, 130}) {
    SCOPED_TRACE(testing::Message() << "n " << n);
    Arrays<T> arrays(s.memory, s.layout, uniform(7, n, 0, 3, 1));
    const std::vector<Dense<T>> rhs = random_rhs(arrays);
    std::vector<Dense<T>> matrices;
    for (int64_t b = 0; b < arrays.batch(); ++b) {
      matrices.push_back(make(n, random));
      arrays.set_triangle(b, s.uplo, matrices.back());
      arrays.set_rhs(b, rhs[static_cast<size_t>(b)]);
    }
    run_well(arrays, handle, Function::posv, s.uplo);
    for (int64_t b = 0; b < arrays.batch(); ++b) {
      ASSERT_EQ(arrays.info(b), 0);
      ASSERT_TRUE(
          is_solution(arrays, b, matrices[static_cast<size_t>(b)], rhs[static_cast<size_t>(b)]));
    }
  }
}
CHOL_TEST(Posv, Graded, kEverywhere) {
  solve_made<T>(s, [](int64_t n, Random& random) { return graded_spd<T>(n, random); });
}
CHOL_TEST(Posv, IllConditioned, kEverywhere) {
  solve_made<T>(s, [](int64_t n, Random& random) {
    return conditioned_spd<T>(n, 0.03 / (epsilon<T>() * static_cast<double>(n)), random);
  });
}

}  // namespace
}  // namespace chol::test
