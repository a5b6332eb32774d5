// L D L^H of indefinite matrices, and pivoting between tiles.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

using Complex = std::complex<double>;

/// log |det A| and the sign of det A, by Gaussian elimination with partial pivoting.
std::pair<double, int> determinant(std::vector<Complex> A, int64_t n) {
  double sum = 0;
  Complex phase = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t p = k;
    for (int64_t i = k; i < n; ++i)
      if (std::abs(A[i + k * n]) > std::abs(A[p + k * n])) p = i;
    if (p != k) {
      phase = -phase;
      for (int64_t j = 0; j < n; ++j) std::swap(A[k + j * n], A[p + j * n]);
    }
    const Complex pivot = A[k + k * n];
    sum += std::log(std::abs(pivot));
    phase *= pivot / std::abs(pivot);
    for (int64_t i = k + 1; i < n; ++i) {
      const Complex factor = A[i + k * n] / pivot;
      for (int64_t j = k + 1; j < n; ++j) A[i + j * n] -= factor * A[k + j * n];
    }
  }
  return {sum, phase.real() < 0 ? -1 : 1};
}

template <class T>
class Indefinite : public testing::Test {
 protected:
  static constexpr bool kIsSingle = sizeof(RealOf<T>) == 4;
  static constexpr double kEps = kIsSingle ? 1e-3 : 1e-5;

  /// A covariance with a diagonal that requires pivots of order 2: `diagonal` replaces the
  /// variance, and rows and columns of tile b are scaled by scale(b).
  template <class Scale>
  std::vector<T> matrix(int64_t n, int64_t tile, double diagonal, Scale&& scale) {
    std::vector<T> A = dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL}, ordered_points(2, n, tile));
    for (int64_t i = 0; i < n; ++i) A[i + i * n] = T(RealOf<T>(diagonal));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) A[i + j * n] *= RealOf<T>(scale(i / tile) * scale(j / tile));
    return A;
  }
  std::vector<T> matrix(int64_t n, int64_t tile, double diagonal) {
    return matrix(n, tile, diagonal, [](int64_t) { return 1.; });
  }

  void factor(const std::vector<T>& A, chol_tlr_t M, int64_t n, const chol_tlr_options_t& options) {
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    ASSERT_EQ(info, 0);
  }

  void expect_solved(const std::vector<T>& A, chol_tlr_t M, int64_t n) {
    const int64_t nrhs = 2;
    std::vector<T> B(static_cast<size_t>(n * nrhs)), X;
    for (int64_t i = 0; i < n * nrhs; ++i) B[i] = static_cast<T>(RealOf<T>(std::cos(double(i))));
    X = B;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_solve(handle_, M, nrhs, X.data(), n));
    for (int64_t c = 0; c < nrhs; ++c) {
      double residual = 0, size = 0;
      for (int64_t i = 0; i < n; ++i) {
        Complex sum = -Complex(B[i + c * n]);
        for (int64_t j = 0; j < n; ++j) sum += Complex(A[i + j * n]) * Complex(X[j + c * n]);
        residual += std::norm(sum);
        size += std::norm(Complex(X[i + c * n]));
      }
      EXPECT_LE(std::sqrt(residual), 3 * kEps * std::sqrt(size));
    }
  }

  /// Compares P A P^T with L D L^H of the tiles; D = I for a definite factor.
  void expect_permuted(const std::vector<T>& A, chol_tlr_t M, int64_t n,
                       const std::vector<int64_t>& tile_rows) {
    std::vector<T> L(static_cast<size_t>(n * n));
    int64_t row = 0;
    for (size_t i = 0; i < tile_rows.size(); row += tile_rows[i++]) {
      int64_t column = 0;
      for (size_t j = 0; j < tile_rows.size(); column += tile_rows[j++])
        CHOL_ASSERT_SUCCESS(handle_,
                            chol_tlr_get_tile(M, int64_t(i), int64_t(j), &L[row + column * n], n));
    }
    std::vector<int64_t> order(static_cast<size_t>(n));
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_permutation(M, order.data()));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = j; i < n; ++i) {
        Complex sum = 0;
        for (int64_t k = 0; k <= j; ++k)
          sum += Complex(L[i + k * n]) * std::conj(Complex(L[j + k * n]));
        ASSERT_LE(std::abs(sum - Complex(A[order[i] + order[j] * n])), kEps) << i << ", " << j;
      }
  }

  AnyHandle handle_;
};

TYPED_TEST_SUITE(Indefinite, Precisions, PrecisionNames);

TYPED_TEST(Indefinite, FactorOfShapesOfTiles) {
  using T = TypeParam;
  for (const auto& [n, tile] : std::vector<std::pair<int64_t, int64_t>>{{1, 0},
                                                                        {2, 1},
                                                                        {7, 3},
                                                                        {20, 64},
                                                                        {65, 64},
                                                                        {100, 17},
                                                                        {129, 128},
                                                                        {310, 64},
                                                                        {333, 256}})
    for (const double diagonal : {0.3, 0.01}) {
      SCOPED_TRACE(testing::Message() << "n " << n << " tile " << tile << " a_ii " << diagonal);
      const std::vector<T> A = this->matrix(n, tile ? tile : n, diagonal);
      chol_tlr_options_t options = options_of(this->kEps);
      options.ldl = 1;
      const Tlr M(this->handle_, type_of<T>(), n, tile);
      this->factor(A, M, n, options);
      if (this->HasFatalFailure()) return;
      EXPECT_LE(distance_to(this->handle_, A, M, n), this->kEps);
      this->expect_solved(A, M, n);
      double logdet = 0;
      int sign = 0;
      CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_logdet(this->handle_, M, &logdet, &sign));
      const auto [expected, expected_sign] =
          determinant(std::vector<Complex>(A.begin(), A.end()), n);
      EXPECT_EQ(sign, expected_sign);
      EXPECT_NEAR(logdet, expected, double(n) * 100 * this->kEps);
    }
}

TYPED_TEST(Indefinite, AllButSolvesAndProductsWithLAlone) {
  using T = TypeParam;
  const int64_t n = 150, tile = 32;
  const std::vector<T> A = this->matrix(n, tile, 0);
  chol_tlr_options_t options = options_of(this->kEps);
  options.ldl = 1;
  const Tlr M(this->handle_, type_of<T>(), n, tile);
  this->factor(A, M, n, options);
  if (this->HasFatalFailure()) return;
  std::vector<T> x(static_cast<size_t>(n), T(1)), y(x);
  EXPECT_EQ(chol_tlr_solve_half(this->handle_, M, 0, 1, x.data(), n), CHOL_STATUS_NOT_SUPPORTED);
  EXPECT_NE(std::strstr(chol_last_error(this->handle_), "must be L L^H"), nullptr);
  EXPECT_EQ(chol_tlr_multiply_half(this->handle_, M, 1, 1, x.data(), n, y.data(), n),
            CHOL_STATUS_NOT_SUPPORTED);
  const chol_tlr_stats_t stats = stats_of(this->handle_, M);
  EXPECT_EQ(stats.ldl, 1);
  // The interchanges inside tiles are a permutation that does not move tiles.
  std::vector<int64_t> order(static_cast<size_t>(n));
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_permutation(M, order.data()));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(order[i] / tile, i / tile);
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(order[i], i);

  const std::string path = testing::TempDir() + "chol_tlr_ldl_" + precision_letter<T> + ".bin";
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_save(M, path.c_str()));
  chol_tlr_t made[2] = {nullptr, nullptr};
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_load(this->handle_, path.c_str(), &made[0]));
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_copy(this->handle_, M, &made[1]));
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve(this->handle_, M, 1, x.data(), n));
  for (chol_tlr_t other : made) {
    const Tlr same(other);
    std::vector<T> z(y);
    CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve(this->handle_, same, 1, z.data(), n));
    EXPECT_EQ(x, z);
  }
  std::remove(path.c_str());
}

TYPED_TEST(Indefinite, SingularAndNanEndInInfo) {
  using T = TypeParam;
  const int64_t n = 90, tile = 32;
  for (const double bad : {0., std::nan("")}) {
    std::vector<T> A(static_cast<size_t>(n * n), T(0));
    for (int64_t i = 0; i < n; ++i) A[i + i * n] = T(RealOf<T>(i == 70 ? bad : i % 2 ? -1 : 1));
    chol_tlr_options_t options = options_of(this->kEps);
    options.ldl = 1;
    const Tlr M(this->handle_, type_of<T>(), n, tile);
    CHOL_ASSERT_SUCCESS(this->handle_,
                        chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_factor(this->handle_, M, &options, &info));
    EXPECT_GT(info, 64);
    EXPECT_LE(info, n);
  }
}

/// Tiles of increasing norm are processed in descending order; the last one is smaller.
TYPED_TEST(Indefinite, PivotingOfTiles) {
  using T = TypeParam;
  const int64_t n = 150, tile = 32, tiles = 5;
  for (const int pivot : {1, 2})
    for (const int ldl : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "pivot " << pivot << " ldl " << ldl);
      const std::vector<T> A = this->matrix(
          n, tile, ldl ? 0.3 : 1.5, [](int64_t b) { return 0.4 + 0.15 * double(b * 2 % tiles); });
      chol_tlr_options_t options = options_of(this->kEps);
      options.pivot = pivot;
      options.ldl = ldl;
      const Tlr M(this->handle_, type_of<T>(), n, tile);
      this->factor(A, M, n, options);
      if (this->HasFatalFailure()) return;
      EXPECT_LE(distance_to(this->handle_, A, M, n), this->kEps);
      this->expect_solved(A, M, n);
      std::vector<int64_t> order(static_cast<size_t>(n));
      CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_permutation(M, order.data()));
      std::vector<int64_t> rows;
      std::vector<int64_t> tile_order;
      for (int64_t i = 0; i < n; i += rows.back()) {
        tile_order.push_back(order[i] / tile);
        rows.push_back(std::min(tile, n - tile_order.back() * tile));
      }
      // Tile 2 has the largest norm.
      EXPECT_EQ(tile_order.front(), 2);
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], i);
      double logdet = 0;
      int sign = 0;
      CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_logdet(this->handle_, M, &logdet, &sign));
      const auto [expected, expected_sign] =
          determinant(std::vector<Complex>(A.begin(), A.end()), n);
      EXPECT_EQ(sign, expected_sign);
      EXPECT_NEAR(logdet, expected, double(n) * 100 * this->kEps);
      if (ldl) continue;
      EXPECT_EQ(tile_order, (std::vector<int64_t>{2, 4, 1, 3, 0}));
      this->expect_permuted(A, M, n, rows);
      // Solves and products with L alone include the permutation.
      std::vector<T> x(static_cast<size_t>(n)), y(x), z(x);
      for (int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(RealOf<T>(std::sin(double(i))));
      CHOL_EXPECT_SUCCESS(this->handle_,
                          chol_tlr_multiply_half(this->handle_, M, 1, 1, x.data(), n, y.data(), n));
      CHOL_EXPECT_SUCCESS(this->handle_,
                          chol_tlr_multiply_half(this->handle_, M, 0, 1, y.data(), n, z.data(), n));
      for (int64_t i = 0; i < n; ++i) {
        Complex sum = 0;
        for (int64_t j = 0; j < n; ++j) sum += Complex(A[i + j * n]) * Complex(x[j]);
        EXPECT_LE(std::abs(sum - Complex(z[i])), 100 * this->kEps);
      }
      CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve_half(this->handle_, M, 0, 1, z.data(), n));
      for (int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(z[i] - y[i]), 100 * this->kEps);
      CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_solve_half(this->handle_, M, 1, 1, z.data(), n));
      for (int64_t i = 0; i < n; ++i) EXPECT_LE(std::abs(z[i] - x[i]), 100 * this->kEps);
    }
}

/// Dense and low rank tiles move to the other side of the diagonal.
TYPED_TEST(Indefinite, PivotingOfDenseTilesInFilesAndCopies) {
  using T = TypeParam;
  const int64_t n = 220, tile = 48;
  const std::vector<T> A =
      this->matrix(n, tile, 2.5, [](int64_t b) { return 1 + 0.1 * double(b); });
  chol_tlr_options_t options = options_of(1e-4);
  options.pivot = 1;
  const Tlr M(this->handle_, type_of<T>(), n, tile);
  this->factor(A, M, n, options);
  if (this->HasFatalFailure()) return;
  const chol_tlr_stats_t stats = stats_of(this->handle_, M);
  EXPECT_GT(stats.dense_tiles, 0);
  EXPECT_LT(stats.dense_tiles, 10);
  EXPECT_LE(distance_to(this->handle_, A, M, n), options.eps);
  const std::string path = testing::TempDir() + "chol_tlr_pivot_" + precision_letter<T> + ".bin";
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_save(M, path.c_str()));
  chol_tlr_t made[2] = {nullptr, nullptr};
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_load(this->handle_, path.c_str(), &made[0]));
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_copy(this->handle_, M, &made[1]));
  for (chol_tlr_t other : made) {
    const Tlr same(other);
    std::vector<int64_t> first(static_cast<size_t>(n)), second(first);
    CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_permutation(M, first.data()));
    CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_permutation(same, second.data()));
    EXPECT_EQ(first, second);
    EXPECT_LE(distance_to(this->handle_, A, same, n), options.eps);
  }
  std::remove(path.c_str());
}

}  // namespace
}  // namespace chol::test
