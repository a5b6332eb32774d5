// potrf on difficult data: failures at every pivot, NaN, Inf, graded, ill conditioned and denormal
// matrices.
#include <cmath>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

/// A matrix to factor and the expected info.
template <class T>
struct Expected {
  Dense<T> A;
  int64_t info = 0;
  /// Not finite: kernels of one matrix on a device that multiply by inverted diagonal blocks may
  /// spread it over the block column.
  bool spoils_block = false;
};

/// Factors a batch of matrices of one order and checks each; bad matrices must not affect the good
/// ones.
template <class T>
void factor_and_judge(const Setting& s, chol_handle_t handle,
                      const std::vector<Expected<T>>& matrices) {
  const int64_t n = matrices[0].A.rows;
  Arrays<T> arrays(s.memory, s.layout, uniform(static_cast<int64_t>(matrices.size()), n, n % 2));
  for (int64_t b = 0; b < arrays.batch(); ++b)
    arrays.set_triangle(b, s.uplo, matrices[static_cast<size_t>(b)].A);
  run_well(arrays, handle, Function::potrf, s.uplo);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    const Expected<T>& expected = matrices[static_cast<size_t>(b)];
    if (expected.info == 0)
      EXPECT_TRUE(is_factor(arrays, b, s.uplo, expected.A));
    else if (expected.spoils_block && s.is_on_device() && s.layout == Layout::one)
      EXPECT_EQ(arrays.info(b), expected.info);
    else
      EXPECT_TRUE(stopped_at(arrays, b, s.uplo, expected.A, expected.info));
  }
}

/// Changes a good matrix at (i, j) and its mirror.
template <class T>
Expected<T> changed(const Dense<T>& A, int64_t i, int64_t j, T value, int64_t info) {
  Expected<T> expected{A, info};
  expected.A(i, j) = value;
  expected.A(j, i) = conjugate(value);
  return expected;
}

/// Pivots to fail at: all of a small matrix, the ones at the borders of tiles of a large one.
std::vector<int64_t> pivots_of(int64_t n) {
  std::vector<int64_t> pivots;
  for (int64_t k = 0; k < n; ++k)
    if (n <= 40 || k < 2 || k >= n - 2 || k % 24 == 0 || k % 32 == 31 || k == n / 2)
      pivots.push_back(k);
  return pivots;
}

std::vector<int64_t> failing_orders() {
  std::vector<int64_t> orders = small_orders();
  orders.erase(orders.begin());
  for (const int64_t n : {47, 48, 49, 64, 65, 97, 130, 193})
    if (!short_run() || n < 65) orders.push_back(n);
  if (!short_run()) orders.push_back(300);
  return orders;
}

CHOL_TEST(PotrfData, FailureAtEveryPivot, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : failing_orders()) {
    if (!takes(s, n, 2)) continue;
    SCOPED_TRACE(testing::Message() << "n " << n);
    const Dense<T>& A = reference<T>(n).A;
    std::vector<Expected<T>> batch{{A, 0}};
    for (const int64_t k : pivots_of(n)) {
      // The pivot is a_kk - sum |l_kp|^2: 0 when k is the first, else negative.
      const T values[] = {T(0), T(-1), A(k, k) * T(static_cast<RealOf<T>>(-0.25))};
      batch.push_back(changed(A, k, k, values[k % 3], k + 1));
      Dense<T> L;
      ASSERT_EQ(lapack_potrf(batch.back().A, &L), k + 1);
    }
    batch.push_back({A, 0});
    factor_and_judge(s, handle, batch);
    if (testing::Test::HasFailure()) return;
  }
}

/// A bad element on the diagonal fails there; one at (i, j) below it fails at pivot i, the first
/// that it affects.
template <class T>
void not_finite_anywhere(const Setting& s, RealOf<T> bad, bool lapack_agrees) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 25, 33, 40, 49, 65, 100, 193}) {
    if ((short_run() && n > 49) || !takes(s, n + std::isnan(bad), 2)) continue;
    SCOPED_TRACE(testing::Message() << "n " << n << " element " << bad);
    const Dense<T>& A = reference<T>(n).A;
    Random random(static_cast<uint64_t>(n));
    std::vector<Expected<T>> batch{{A, 0}};
    for (const int64_t k : pivots_of(n)) {
      batch.push_back(changed(A, k, k, T(bad), k + 1));
      if (k == 0) continue;
      const int64_t column = k == 1 ? 0 : random.integer(0, k - 1);
      T value(bad);
      if constexpr (is_complex<T>)
        if (k % 2 == 1) value = T(1, bad);
      batch.push_back(changed(A, k, column, value, k + 1));
      batch.back().spoils_block = true;
    }
    batch.push_back({A, 0});
    for (size_t b = 0; lapack_agrees && b < batch.size(); ++b) {
      Dense<T> L;
      ASSERT_EQ(lapack_potrf(batch[b].A, &L), batch[b].info);
    }
    factor_and_judge(s, handle, batch);
    if (testing::Test::HasFailure()) return;
  }
}
CHOL_TEST(PotrfData, NaN, kEverywhere) {
  using R = RealOf<T>;
  not_finite_anywhere<T>(s, std::numeric_limits<R>::quiet_NaN(), true);
}
// LAPACK accepts an infinite pivot and returns a factor with Inf and NaN; chol reports it as not
// positive definite.
CHOL_TEST(PotrfData, Infinity, kEverywhere) {
  using R = RealOf<T>;
  not_finite_anywhere<T>(s, std::numeric_limits<R>::infinity(), false);
}
CHOL_TEST(PotrfData, MinusInfinity, kEverywhere) {
  using R = RealOf<T>;
  not_finite_anywhere<T>(s, -std::numeric_limits<R>::infinity(), true);
}

std::vector<int64_t> data_orders() {
  if (short_run()) return {1, 2, 3, 5, 8, 13, 16, 17, 24, 33, 48, 65};
  return {1,  2,  3,  4,  5,  7,  8,  9,  12, 13,  16,  17, 20,
          24, 25, 31, 32, 33, 40, 48, 65, 96, 130, 200, 301};
}

/// Matrices from make(n, random) that are safely positive definite.
template <class T, class Make>
void factor_made(const Setting& s, Make&& make) {
  const Handle handle(s.memory.backend());
  Random random(7);
  for (const int64_t n : data_orders()) {
    if (!takes(s, n, 2)) continue;
    SCOPED_TRACE(testing::Message() << "n " << n);
    std::vector<Expected<T>> batch;
    for (int64_t b = 0; b < (n > 100 ? 2 : 9); ++b) batch.push_back({make(n, random), 0});
    factor_and_judge(s, handle, batch);
    if (testing::Test::HasFailure()) return;
  }
}
CHOL_TEST(PotrfData, Graded, kEverywhere) {
  factor_made<T>(s, [](int64_t n, Random& random) { return graded_spd<T>(n, random); });
}
CHOL_TEST(PotrfData, Denormal, kEverywhere) {
  factor_made<T>(s, [](int64_t n, Random& random) { return denormal_spd<T>(n, random); });
}
CHOL_TEST(PotrfData, NearOverflow, kEverywhere) {
  factor_made<T>(s, [](int64_t n, Random& random) {
    const int top = std::numeric_limits<RealOf<T>>::max_exponent;
    return scaled(random_spd<T>(n, random), std::vector<int>(static_cast<size_t>(n), top / 2 - 4));
  });
}
/// Elements of the factor that are denormal themselves are not flushed to zero.
CHOL_TEST(PotrfData, DenormalNextToOne, kEverywhere) {
  const Handle handle(s.memory.backend());
  const T tiny = T(std::numeric_limits<RealOf<T>>::denorm_min() * 12);
  for (const int64_t n : {2, 5, 8, 16, 17, 33, 70}) {
    Arrays<T> arrays(s.memory, s.layout, uniform(9, n));
    Dense<T> A(n, n);
    for_each_in_triangle(n, false, [&](int64_t i, int64_t j) { A(i, j) = i == j ? T(1) : tiny; });
    for (int64_t b = 0; b < 9; ++b) arrays.set_triangle(b, s.uplo, A);
    run_well(arrays, handle, Function::potrf, s.uplo);
    for (int64_t b = 0; b < 9; ++b)
      ASSERT_EQ(arrays.lower(b, s.uplo).values, A.values) << "matrix " << b << " of order " << n;
  }
}

/// Condition numbers up to 1/eps: rounding decides about the last pivots, so that a failure is
/// correct if the columns before it are the factor, except where kappa n eps < 1/10.
CHOL_TEST(PotrfData, IllConditioned, kEverywhere) {
  const Handle handle(s.memory.backend());
  Random random(11);
  for (const int64_t n : data_orders())
    for (double kappa = 10; kappa <= 1 / epsilon<T>(); kappa *= 100) {
      if (!takes(s, n + std::ilogb(kappa), 2)) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " kappa " << kappa);
      Arrays<T> arrays(s.memory, s.layout, uniform(n > 100 ? 1 : 5, n));
      std::vector<Dense<T>> matrices;
      for (int64_t b = 0; b < arrays.batch(); ++b) {
        matrices.push_back(conditioned_spd<T>(n, kappa, random));
        arrays.set_triangle(b, s.uplo, matrices.back());
      }
      run_well(arrays, handle, Function::potrf, s.uplo);
      for (int64_t b = 0; b < arrays.batch(); ++b) {
        const Dense<T>& A = matrices[static_cast<size_t>(b)];
        const bool must_pass = kappa * static_cast<double>(n) * epsilon<T>() < 0.1;
        if (must_pass || arrays.info(b) == 0)
          ASSERT_TRUE(is_factor(arrays, b, s.uplo, A));
        else
          ASSERT_TRUE(stopped_at(arrays, b, s.uplo, A, arrays.info(b)));
      }
    }
}

/// The Hilbert matrix is positive definite in exact arithmetic at every order; in rounded
/// arithmetic up to about 12 in double and 6 in single precision.
CHOL_TEST(PotrfData, Hilbert, kEverywhere) {
  const Handle handle(s.memory.backend());
  const int64_t safe = sizeof(RealOf<T>) == 4 ? 5 : 11;
  for (int64_t n = 1; n <= 24; ++n) {
    Arrays<T> arrays(s.memory, s.layout, uniform(3, n, 1));
    const Dense<T> A = hilbert<T>(n);
    for (int64_t b = 0; b < 3; ++b) arrays.set_triangle(b, s.uplo, A);
    run_well(arrays, handle, Function::potrf, s.uplo);
    for (int64_t b = 0; b < 3; ++b)
      if (n <= safe || arrays.info(b) == 0)
        ASSERT_TRUE(is_factor(arrays, b, s.uplo, A));
      else
        ASSERT_TRUE(stopped_at(arrays, b, s.uplo, A, arrays.info(b)));
  }
}

}  // namespace
}  // namespace chol::test
