// ||A - L L^H||_2 <= eps relative to the exact dense matrix, and results computed with the factor.
#include <cstring>
#include <limits>
#include <tuple>

#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

template <class T>
class Accuracy : public testing::Test {
 protected:
  static constexpr bool kIsSingle = sizeof(RealOf<T>) == 4;

  /// Assembles from a dense matrix and factors.
  void factor(const std::vector<T>& A, chol_tlr_t M, int64_t n, chol_uplo_t uplo,
              const chol_tlr_options_t& options, int expected_info = 0) {
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_dense(handle_, M, uplo, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    ASSERT_EQ(info, expected_info);
  }

  AnyHandle handle_;
};

TYPED_TEST_SUITE(Accuracy, Precisions, PrecisionNames);

TYPED_TEST(Accuracy, OfTheWholeMatrix) {
  using T = TypeParam;
  const Covariance covariances[] = {{CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0},
                                    {CHOL_KERNEL_SQUARED_EXPONENTIAL, 0.5, 0.2, 0.1},
                                    {CHOL_KERNEL_MATERN, 1.5, 0.3, 0.01},
                                    {CHOL_KERNEL_MATERN, 2.5, 1, 1}};
  const int64_t n = 310, tile = 64;
  for (const Covariance& covariance : covariances)
    for (const int dim : {1, 2, 3})
      for (const double eps : {1e-1, 1e-3, 1e-6, 1e-10}) {
        if (this->kIsSingle && eps < 1e-4) continue;
        SCOPED_TRACE(testing::Message() << "kind " << covariance.kind << " nu " << covariance.nu
                                        << " dim " << dim << " eps " << eps);
        const std::vector<T> A = dense_covariance<T>(covariance, ordered_points(dim, n, tile));
        const Tlr M(this->handle_, type_of<T>(), n, tile);
        const chol_tlr_options_t options = options_of(eps);
        CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_from_dense(this->handle_, M, CHOL_LOWER,
                                                               A.data(), n, &options));
        // Bases of samples on devices are less exact than those of the host: docs/tuning.md.
        const bool by_projection = is_on_device() && stats_of(this->handle_, M).projected_tiles > 0;
        EXPECT_LE(distance_to(this->handle_, A, M, n), (by_projection ? 0.75 : 0.4) * eps);
        int info = -1;
        CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_factor(this->handle_, M, &options, &info));
        ASSERT_EQ(info, 0);
        EXPECT_LE(distance_to(this->handle_, A, M, n), eps);
      }
}

TYPED_TEST(Accuracy, OfShapesOfTiles) {
  using T = TypeParam;
  const double eps = this->kIsSingle ? 1e-2 : 1e-6;
  for (const auto& [n, tile] : std::vector<std::pair<int64_t, int64_t>>{{1, 0},
                                                                        {2, 1},
                                                                        {7, 3},
                                                                        {20, 64},
                                                                        {64, 64},
                                                                        {65, 64},
                                                                        {100, 17},
                                                                        {256, 32},
                                                                        {500, 256},
                                                                        {1100, 1024}}) {
    for (const chol_uplo_t uplo : {CHOL_LOWER, CHOL_UPPER}) {
      if (n > 1000 && uplo == CHOL_UPPER) continue;
      SCOPED_TRACE(testing::Message() << "n " << n << " tile " << tile << " uplo " << char(uplo));
      const std::vector<T> A =
          dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL}, ordered_points(2, n, tile ? tile : n));
      const Tlr M(this->handle_, type_of<T>(), n, tile);
      this->factor(A, M, n, uplo, options_of(eps));
      EXPECT_LE(distance_to(this->handle_, A, M, n), eps);
    }
  }
}

/// The error is within an eps slightly above the least that is accepted; one slightly below is
/// refused. The least eps is n u for up to 64 tiles in a row. On a device single precision may
/// exceed such an eps (docs/tlr.md).
TYPED_TEST(Accuracy, OfTheLeastEps) {
  using T = TypeParam;
  constexpr double kRoundoff = double(std::numeric_limits<RealOf<T>>::epsilon()) / 2;
  for (const auto& [n, tile, factor] : {std::tuple<int64_t, int64_t, double>{310, 64, 1},
                                        {100, 128, 1},
                                        {480, 4, std::sqrt(120.) / 8}}) {
    SCOPED_TRACE(testing::Message() << "n " << n << " tile " << tile);
    const std::vector<T> A =
        dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL}, ordered_points(2, n, tile));
    const Tlr M(this->handle_, type_of<T>(), n, tile);
    const double least = double(n) * kRoundoff * factor;
    chol_tlr_options_t options = options_of(0.99 * least);
    EXPECT_EQ(chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &options),
              CHOL_STATUS_INVALID_VALUE);
    EXPECT_NE(std::strstr(chol_last_error(this->handle_), "options->eps = "), nullptr);
    options.eps = 1.01 * least;
    this->factor(A, M, n, CHOL_LOWER, options);
    const bool is_single = std::is_same_v<RealOf<T>, float>;
    EXPECT_LE(distance_to(this->handle_, A, M, n),
              options.eps * (is_single && is_on_device() ? 2.5 : 1));
    const chol_tlr_options_t larger = options_of(1e-2);
    CHOL_ASSERT_SUCCESS(this->handle_,
                        chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &larger));
    options.eps = 0.99 * least;
    int info = -1;
    EXPECT_EQ(chol_tlr_factor(this->handle_, M, &options, &info), CHOL_STATUS_INVALID_VALUE);
  }
}

TYPED_TEST(Accuracy, OfEachTile) {
  using T = TypeParam;
  const int64_t n = 512, tile = 64;
  for (const Covariance& covariance : {Covariance{CHOL_KERNEL_EXPONENTIAL},
                                       Covariance{CHOL_KERNEL_SQUARED_EXPONENTIAL, 0.5, 0.2, 0.1},
                                       Covariance{CHOL_KERNEL_MATERN, 1.5, 0.3, 0.01}})
    for (const int dim : {1, 3})
      for (const double eps : {1e-2, 1e-5, 1e-9}) {
        if (this->kIsSingle && eps < 1e-2) continue;
        SCOPED_TRACE(testing::Message()
                     << "kind " << covariance.kind << " dim " << dim << " eps " << eps);
        const std::vector<T> A = dense_covariance<T>(covariance, ordered_points(dim, n, tile));
        const Tlr M(this->handle_, type_of<T>(), n, tile);
        chol_tlr_options_t options = options_of(eps);
        options.each_tile = 1;
        this->factor(A, M, n, CHOL_LOWER, options);
        EXPECT_LE(distance_to(this->handle_, A, M, n), 10 * eps);
      }
}

TYPED_TEST(Accuracy, OfLogdetSolveAndProducts) {
  using T = TypeParam;
  const int64_t n = 230, tile = 48, nrhs = 3;
  const double eps = this->kIsSingle ? 1e-4 : 1e-9;
  const std::vector<T> A =
      dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.2}, ordered_points(2, n, tile));
  const Tlr M(this->handle_, type_of<T>(), n, tile);
  this->factor(A, M, n, CHOL_UPPER, options_of(eps));
  std::vector<T> X(static_cast<size_t>(n * nrhs)), B(X), L(X), Y(X);
  for (int64_t i = 0; i < n * nrhs; ++i) X[i] = static_cast<T>(RealOf<T>(std::sin(double(i))));
  for (int64_t c = 0; c < nrhs; ++c)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) B[i + c * n] += A[i + j * n] * X[j + c * n];
  const double bound = 100 * eps;  // the inverse's norm is at most 5

  CHOL_EXPECT_SUCCESS(this->handle_,
                      chol_tlr_multiply(this->handle_, M, nrhs, X.data(), n, Y.data(), n));
  for (int64_t i = 0; i < n * nrhs; ++i) EXPECT_LE(std::abs(Y[i] - B[i]), bound) << i;
  // L (L^H X) equals A X.
  CHOL_EXPECT_SUCCESS(this->handle_,
                      chol_tlr_multiply_half(this->handle_, M, 1, nrhs, X.data(), n, L.data(), n));
  CHOL_EXPECT_SUCCESS(this->handle_,
                      chol_tlr_multiply_half(this->handle_, M, 0, nrhs, L.data(), n, Y.data(), n));
  for (int64_t i = 0; i < n * nrhs; ++i) EXPECT_LE(std::abs(Y[i] - B[i]), bound) << i;
  // Forward substitution of B gives L^H X.
  Y = B;
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve_half(this->handle_, M, 0, nrhs, Y.data(), n));
  for (int64_t i = 0; i < n * nrhs; ++i) EXPECT_LE(std::abs(Y[i] - L[i]), bound) << i;
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve_half(this->handle_, M, 1, nrhs, Y.data(), n));
  for (int64_t i = 0; i < n * nrhs; ++i) EXPECT_LE(std::abs(Y[i] - X[i]), bound) << i;
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve(this->handle_, M, nrhs, B.data(), n));
  for (int64_t i = 0; i < n * nrhs; ++i) EXPECT_LE(std::abs(B[i] - X[i]), bound) << i;

  // Compared with the determinant of a dense factor in double precision, on the host.
  chol_handle_t host = nullptr;
  ASSERT_EQ(chol_create_on(&host, CHOL_BACKEND_HOST, 0, nullptr), CHOL_STATUS_SUCCESS);
  std::vector<std::complex<double>> D(A.begin(), A.end());
  int info = -1, sign = 0;
  double expected = 0, logdet = 0;
  CHOL_EXPECT_SUCCESS(host, chol_zpotrf(host, CHOL_LOWER, n, D.data(), n, &info));
  CHOL_EXPECT_SUCCESS(host, chol_zlogdet(host, CHOL_LOWER, n, D.data(), n, &expected));
  EXPECT_EQ(chol_destroy(host), CHOL_STATUS_SUCCESS);
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_logdet(this->handle_, M, &logdet, &sign));
  EXPECT_EQ(sign, 1);
  EXPECT_NEAR(logdet, expected, double(n) * bound);
}

TYPED_TEST(Accuracy, OfTiles) {
  using T = TypeParam;
  const int64_t n = 200, tile = 64, tiles = 4;
  const double eps = this->kIsSingle ? 1e-4 : 1e-8;
  const std::vector<T> A =
      dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL}, ordered_points(2, n, tile));
  const Tlr M(this->handle_, type_of<T>(), n, tile);
  const chol_tlr_options_t options = options_of(eps);
  CHOL_ASSERT_SUCCESS(this->handle_,
                      chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &options));
  for (int64_t i = 0; i < tiles; ++i)
    for (int64_t j = 0; j < tiles; ++j) {
      const int64_t rows = std::min(tile, n - i * tile), columns = std::min(tile, n - j * tile);
      std::vector<T> block(static_cast<size_t>((rows + 1) * columns), T(7));
      CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_get_tile(M, i, j, block.data(), rows + 1));
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < rows; ++r)
          EXPECT_LE(std::abs(block[r + c * (rows + 1)] - A[i * tile + r + (j * tile + c) * n]),
                    eps);
        EXPECT_EQ(block[rows + c * (rows + 1)], T(7));
      }
    }
}

/// pcg with a less accurate factor of the same matrix as the preconditioner.
TYPED_TEST(Accuracy, OfConjugateGradients) {
  using T = TypeParam;
  const int64_t n = 200, tile = 50, nrhs = 2;
  const std::vector<T> A =
      dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.05}, ordered_points(2, n, tile));
  const Tlr original(this->handle_, type_of<T>(), n, tile), M(this->handle_, type_of<T>(), n, tile);
  const chol_tlr_options_t fine = options_of(this->kIsSingle ? 1e-4 : 1e-10);
  CHOL_ASSERT_SUCCESS(this->handle_,
                      chol_tlr_from_dense(this->handle_, original, CHOL_LOWER, A.data(), n, &fine));
  this->factor(A, M, n, CHOL_LOWER, options_of(2e-2));
  std::vector<T> X(static_cast<size_t>(n * nrhs), T(1)), B(X), found(X);
  CHOL_ASSERT_SUCCESS(this->handle_,
                      chol_tlr_multiply(this->handle_, original, nrhs, X.data(), n, B.data(), n));
  for (int64_t i = 0; i < n; ++i) B[i + n] = T(0);
  int iterations[2] = {-1, -1};
  const int most = 30;
  std::vector<double> residuals((most + 1) * nrhs, -1);
  const double tolerance = this->kIsSingle ? 1e-4 : 1e-9;
  CHOL_ASSERT_SUCCESS(this->handle_,
                      chol_tlr_pcg(this->handle_, original, M, nrhs, B.data(), n, found.data(), n,
                                   tolerance, most, iterations, residuals.data()));
  EXPECT_GT(iterations[0], 0);
  EXPECT_EQ(iterations[1], 0);
  EXPECT_EQ(residuals[0], 1);
  EXPECT_LE(residuals[iterations[0]], tolerance);
  for (int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(found[i] - T(1)), 1e4 * tolerance) << i;
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_pcg(this->handle_, original, M, 1, B.data(), n,
                                                  found.data(), n, 0, 1, iterations, nullptr));
  EXPECT_EQ(iterations[0], -1);
}

}  // namespace
}  // namespace chol::test
