// Routines that take a factor, except solves: potri, logdet, pocon.
#include <cmath>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int kVariants = 3;

int variant_of(int64_t b) { return static_cast<int>(b % kVariants); }

/// Against LAPACK's inverse element by element, in units of the error that the condition number of
/// about n allows, and by its residual.
template <class T>
testing::AssertionResult is_inverse(const Arrays<T>& arrays, int64_t b, chol_uplo_t uplo) {
  const int64_t n = arrays.shape(b).n;
  const Dense<T>& A = reference<T>(n, variant_of(b)).A;
  const Dense<T>& expected = reference_inverse<T>(n, variant_of(b));
  const Dense<T> X = arrays.hermitian(b, uplo);
  const auto failure = [&] {
    return testing::AssertionFailure() << "matrix " << b << " of order " << n << ": ";
  };
  if (arrays.info(b) != 0) return failure() << "info = " << arrays.info(b) << ", must be 0";
  for (int64_t i = 0; i < n; ++i)
    if (std::imag(X(i, i)) != 0) return failure() << "diagonal element " << i << " is not real";
  const double ratio = inverse_ratio(A, X);
  if (!(ratio < kThreshold)) return failure() << "residual " << ratio;
  double largest = 0, error = 0;
  for (size_t k = 0; k < X.values.size(); ++k) {
    largest = std::max<double>(largest, std::abs(expected.values[k]));
    error = std::max<double>(error, std::abs(X.values[k] - expected.values[k]));
  }
  if (error <= kThreshold * static_cast<double>(n) * epsilon<T>() * largest)
    return testing::AssertionSuccess();
  return failure() << "differs by " << error << " from LAPACK's inverse, whose largest element is "
                   << largest;
}

template <class T>
void invert_references(const Setting& s, chol_handle_t handle, std::vector<Shape> shapes,
                       Placement placement) {
  Arrays<T> arrays(s.memory, s.layout, std::move(shapes), placement);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    arrays.set_triangle(b, s.uplo, reference<T>(arrays.shape(b).n, variant_of(b)).L);
    arrays.spoil_diagonal(b);
  }
  run_well(arrays, handle, Function::potri, s.uplo);
  for (int64_t b = 0; b < arrays.batch(); ++b) ASSERT_TRUE(is_inverse(arrays, b, s.uplo));
}

CHOL_TEST(Potri, EveryOrder, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : small_orders())
    for (const int64_t batch : {0, 1, 2, 9, 17}) {
      if (!takes(s, n + batch, 2)) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " batch " << batch);
      const int64_t pad = (n + batch) % 2 * 3;
      invert_references<T>(s, handle, uniform(batch, n, pad), {batch % 3, pad, Edge::end});
      if (testing::Test::HasFailure()) return;
    }
  for (const int64_t n : block_orders()) {
    if (!takes(s, n, 2)) continue;
    SCOPED_TRACE(testing::Message() << "n " << n);
    invert_references<T>(s, handle, uniform(n < 200 ? 2 : 1, n, n % 2 * 5), {1, 0, Edge::end});
    if (testing::Test::HasFailure()) return;
  }
}

CHOL_TEST(Potri, MixedOrders, kEverywhere) {
  if (!mixes_orders(s.layout)) GTEST_SKIP() << "one order only";
  const Handle handle(s.memory.backend());
  Random random(9);
  for (const int64_t batch : {1, 2, 9, 33, 100}) {
    std::vector<Shape> shapes;
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t n = random.integer(0, batch > 9 ? 40 : 150);
      shapes.push_back({n, std::max<int64_t>(n, 1) + random.integer(0, 3), 0, 1});
    }
    invert_references<T>(s, handle, std::move(shapes), {1, 1, Edge::end});
  }
}

/// A zero on the diagonal of the factor: info is the position of the first one, and A is not
/// changed.
CHOL_TEST(Potri, ZeroOnTheDiagonal, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 2, 3, 5, 8, 9, 16, 17, 25, 40, 64, 97}) {
    SCOPED_TRACE(testing::Message() << "n " << n);
    Arrays<T> arrays(s.memory, s.layout, uniform(n + 1, n, 1), {0, 2, Edge::end});
    for (int64_t b = 0; b <= n; ++b) {
      Dense<T> L = reference<T>(n, variant_of(b)).L;
      if (b < n) L(b, b) = 0;
      if (b < n && b % 2 == 0) L(n - 1, n - 1) = 0;
      arrays.set_triangle(b, s.uplo, L);
    }
    run_well(arrays, handle, Function::potri, s.uplo);
    for (int64_t b = 0; b < n; ++b) ASSERT_EQ(arrays.info(b), b + 1);
    ASSERT_TRUE(is_inverse(arrays, n, s.uplo));
  }
}

/// Sums of logarithms in long double; `magnitude` is the sum of their absolute values.
template <class T>
long double log_determinant(const Dense<T>& L, long double* magnitude) {
  long double sum = 0;
  *magnitude = 0;
  for (int64_t i = 0; i < L.rows; ++i) {
    const long double term = 2 * std::log(static_cast<long double>(std::real(L(i, i))));
    sum += term;
    *magnitude += std::abs(term);
  }
  return sum;
}

template <class T>
void judge_logdet(const Setting& s, chol_handle_t handle, const std::vector<Dense<T>>& factors) {
  const int64_t n = factors[0].rows;
  Arrays<T> arrays(s.memory, s.layout, uniform(static_cast<int64_t>(factors.size()), n, n % 3));
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    arrays.set_triangle(b, s.uplo, factors[static_cast<size_t>(b)]);
    arrays.spoil_diagonal(b);
  }
  run_well(arrays, handle, Function::logdet, s.uplo);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    long double magnitude;
    const long double expected = log_determinant(factors[static_cast<size_t>(b)], &magnitude);
    // Every term and every partial sum may be rounded once or twice.
    const long double allowed = (static_cast<long double>(n) + 4) * 2 * epsilon<T>() * magnitude;
    ASSERT_NEAR(arrays.result(b), expected, static_cast<double>(allowed))
        << "matrix " << b << " of order " << n;
  }
}

CHOL_TEST(Logdet, AgainstLongDouble, kEverywhere) {
  const Handle handle(s.memory.backend());
  Random random(13);
  std::vector<int64_t> orders = small_orders();
  for (const int64_t n : {63, 64, 65, 129, 300}) orders.push_back(n);
  for (const int64_t n : orders)
    for (const int64_t batch : {1, 2, 9, 17}) {
      if (!takes(s, n + batch, 2)) continue;
      std::vector<Dense<T>> factors;
      for (int64_t b = 0; b < batch; ++b) {
        factors.push_back(reference<T>(n, variant_of(b)).L);
        if (b % 2 == 1) lapack_potrf(graded_spd<T>(n, random), &factors.back());
      }
      judge_logdet<T>(s, handle, factors);
      if (testing::Test::HasFailure()) return;
    }
}

/// NaN for that matrix alone.
CHOL_TEST(Logdet, NaNWithoutPositiveDiagonal, kEverywhere) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {1, 2, 5, 16, 33})
    for (int64_t bad = 0; bad < n; bad += 4) {
      Arrays<T> arrays(s.memory, s.layout, uniform(7, n));
      for (int64_t b = 0; b < 7; ++b) {
        Dense<T> L = reference<T>(n).L;
        if (b % 2 == 1) L(bad, bad) = b == 1 ? T(0) : b == 3 ? T(-2) : T(std::nan(""));
        arrays.set_triangle(b, s.uplo, L);
      }
      run_well(arrays, handle, Function::logdet, s.uplo);
      for (int64_t b = 0; b < 7; ++b)
        ASSERT_EQ(std::isnan(arrays.result(b)), b % 2 == 1) << "matrix " << b << " of order " << n;
    }
}

template <class T>
RealOf<T> estimate(const Setting& s, chol_handle_t handle, const Dense<T>& L, RealOf<T> anorm) {
  Arrays<T> arrays(s.memory, s.layout, uniform(1, L.rows, 1));
  arrays.set_triangle(0, s.uplo, L);
  arrays.spoil_diagonal(0);
  arrays.anorm = anorm;
  run_well(arrays, handle, Function::pocon, s.uplo);
  return arrays.result(0);
}

/// The estimate of norm1(inverse(A)) is a lower bound, in practice within a factor of 3: rcond is
/// between the true value and ten times that.
CHOL_TEST(Pocon, NearTheTruth, kOneMatrix) {
  const Handle handle(s.memory.backend());
  Random random(17);
  std::vector<int64_t> orders = small_orders();
  for (const int64_t n : {63, 64, 65, 97, 130, 200}) orders.push_back(n);
  for (const int64_t n : orders) {
    if (n == 0) continue;
    for (double kappa = 1; kappa * static_cast<double>(n) * epsilon<T>() < 0.02; kappa *= 30) {
      SCOPED_TRACE(testing::Message() << "n " << n << " kappa " << kappa);
      const Dense<T> A = conditioned_spd<T>(n, kappa, random);
      Dense<T> L;
      ASSERT_EQ(lapack_potrf(A, &L), 0);
      const auto anorm = static_cast<RealOf<T>>(norm1(A));
      const double truth = 1 / (norm1(A) * norm1(lapack_potri(L)));
      const double of_lapack = lapack_pocon(L, anorm), ours = estimate(s, handle, L, anorm);
      ASSERT_GE(ours, 0.9 * truth);
      ASSERT_LE(ours, 10 * truth);
      ASSERT_GE(ours, of_lapack / 10);
      ASSERT_LE(ours, of_lapack * 10);
    }
  }
}

/// The identity except for rows p and p + 1, which contain the inverse of 1 + theta v v^T with v =
/// (1, -1) and 1 + 2 theta = 2^10: its signs are those of the starting vector of the iteration, so
/// that only the alternating vector finds its columns. The first row gives the column to which the
/// iteration converges. All elements and norms are powers of two or sums of two of them.
template <class T>
Dense<T> deceiving(int64_t n, int64_t p) {
  Dense<T> A(n, n);
  for (int64_t i = 0; i < n; ++i) A(i, i) = T(i == 0 ? 0.5 : 1);
  A(p, p) = A(p + 1, p + 1) = T(0.5 + 0x1p-11);
  A(p, p + 1) = A(p + 1, p) = T(0.5 - 0x1p-11);
  return A;
}

/// rcond is inversely proportional to the norm given by the caller, here exactly.
CHOL_TEST(Pocon, MatricesThatDeceiveTheEstimator, kOneMatrix) {
  const Handle handle(s.memory.backend());
  for (int64_t n = 3; n <= 10; ++n)
    for (int64_t p = 1; p + 1 < n; ++p) {
      SCOPED_TRACE(testing::Message() << "n " << n << " p " << p);
      Dense<T> L;
      ASSERT_EQ(lapack_potrf(deceiving<T>(n, p), &L), 0);
      const RealOf<T> rcond = estimate(s, handle, L, RealOf<T>(1));
      ASSERT_GE(rcond, 0.9 * 0x1p-10);
      ASSERT_LE(rcond, 10 * 0x1p-10);
      ASSERT_NEAR(rcond, lapack_pocon(L, RealOf<T>(1)), 0.01 * rcond);
      ASSERT_EQ(estimate(s, handle, L, RealOf<T>(64)), rcond / 64);
    }
}

CHOL_TEST(Pocon, NothingToEstimate, kOneMatrix) {
  const Handle handle(s.memory.backend());
  EXPECT_EQ(estimate<T>(s, handle, Dense<T>(0, 0), 3), 1);
  EXPECT_EQ(estimate<T>(s, handle, reference<T>(5).L, 0), 0);
}

}  // namespace
}  // namespace chol::test
