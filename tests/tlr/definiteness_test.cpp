// Nearly and not positive definite matrices, and difficult sets of points.
#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

class Definiteness : public testing::Test {
 protected:
  /// Assembles and factors the covariance of points, and compares with the exact matrix.
  void expect_within(const Covariance& covariance, const Points& points, int64_t tile, double eps,
                     int iterations = 20) {
    const chol_kernel_t kernel = covariance.kernel();
    const chol_tlr_options_t options = options_of(eps);
    const Tlr M(handle_, CHOL_TYPE_D, points.n, tile);
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_kernel(handle_, M, &kernel, points.dim,
                                                      points.x.data(), points.dim, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    ASSERT_EQ(info, 0);
    EXPECT_LE(distance_to(handle_, dense_covariance<double>(covariance, points), M, points.n), eps);
    double norm2 = -1;
    CHOL_ASSERT_SUCCESS(
        handle_, chol_tlr_error_kernel(handle_, M, &kernel, points.dim, points.x.data(), points.dim,
                                       iterations, &norm2));
    EXPECT_LE(norm2, eps);
  }

  AnyHandle handle_;
};

TEST_F(Definiteness, OfKernels) {
  const int64_t n = 300, tile = 64;
  for (const Covariance& covariance :
       {Covariance{CHOL_KERNEL_EXPONENTIAL, 0.5, 0.2, 0, 3},
        Covariance{CHOL_KERNEL_SQUARED_EXPONENTIAL, 0.5, 0.3, 0},
        Covariance{CHOL_KERNEL_MATERN, 0.5, 0.3, 0}, Covariance{CHOL_KERNEL_MATERN, 1.5, 0.3, 0},
        Covariance{CHOL_KERNEL_MATERN, 2.5, 0.3, 100}})
    for (const int dim : {1, 2, 3})
      for (const double eps : {1e-1, 1e-4, 1e-8}) {
        SCOPED_TRACE(testing::Message() << "kind " << covariance.kind << " nu " << covariance.nu
                                        << " dim " << dim << " eps " << eps);
        expect_within(covariance, ordered_points(dim, n, tile), tile, eps);
      }
}

/// By Bessel functions, which take a microsecond each.
TEST_F(Definiteness, OfMaternOfAnyOrder) {
  const int64_t n = 150, tile = 48;
  for (const auto& [nu, nugget] : std::vector<std::pair<double, double>>{{0.9, 0}, {3.2, 1e-3}})
    for (const double eps : {1e-2, 1e-6})
      expect_within({CHOL_KERNEL_MATERN, nu, 0.3, nugget}, ordered_points(2, n, tile), tile, eps,
                    3);
}

TEST_F(Definiteness, OfCoincidingPoints) {
  Points points = ordered_points(2, 200, 200);
  for (int64_t i = 0; i < points.n; ++i)
    for (int d = 0; d < 2; ++d) points.x[i * 2 + d] = points.x[i / 50 * 100 + d];
  for (const double nugget : {0., 1e-2})
    for (const double eps : {1e-2, 1e-6})
      expect_within({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, nugget}, points, 32, eps);
}

TEST_F(Definiteness, OfPointsOnALine) {
  Points points = ordered_points(3, 260, 32);
  for (int64_t i = 0; i < points.n; ++i)
    for (int d = 0; d < 3; ++d) points.x[i * 3 + d] = double(i) / double(points.n);
  for (const double eps : {1e-1, 1e-6, 1e-10})
    expect_within({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0}, points, 32, eps);
}

TEST_F(Definiteness, OfPointsInRandomOrder) {
  const Points ordered = ordered_points(2, 640, 640, 9);
  std::mt19937_64 random(2);
  std::vector<int64_t> order(640);
  for (int64_t i = 0; i < 640; ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  Points points = ordered;
  for (int64_t i = 0; i < 640; ++i)
    for (int d = 0; d < 2; ++d) points.x[i * 2 + d] = ordered.x[order[i] * 2 + d];
  for (const double eps : {1e-2, 1e-4, 1e-6})
    for (const chol_kernel_kind_t kind : {CHOL_KERNEL_EXPONENTIAL, CHOL_KERNEL_SQUARED_EXPONENTIAL})
      expect_within({kind, 0.5, 1, 1e-2}, points, 32, eps);
}

TEST_F(Definiteness, CompensationIsCountedAndCanBeOff) {
  // Each point occurs twice: half of the eigenvalues are zero.
  const int64_t n = 256, tile = 32;
  Points points = ordered_points(2, n, tile);
  for (int64_t i = n / 2; i < n; ++i)
    for (int d = 0; d < 2; ++d) points.x[i * 2 + d] = points.x[(i - n / 2) * 2 + d];
  const Covariance covariance{CHOL_KERNEL_EXPONENTIAL};
  const chol_kernel_t kernel = covariance.kernel();
  for (const int compensate : {0, 1}) {
    chol_tlr_options_t options = options_of(1e-3);
    options.compensate = compensate;
    const Tlr M(handle_, CHOL_TYPE_D, n, tile);
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_kernel(handle_, M, &kernel, 2, points.x.data(), 2, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    const chol_tlr_stats_t stats = stats_of(handle_, M);
    if (compensate) {
      EXPECT_EQ(info, 0);
      EXPECT_GT(stats.compensated, 0);
      EXPECT_EQ(stats.factored, 1);
      EXPECT_LE(distance_to(handle_, dense_covariance<double>(covariance, points), M, n), 1e-3);
    } else {
      EXPECT_GT(info, n / 2);
      EXPECT_LE(info, n);
      EXPECT_EQ(stats.factored, 0);
    }
  }
}

TEST_F(Definiteness, InfoIsTheFailingMinor) {
  const int64_t n = 150, tile = 32;
  for (const int64_t bad : {1, 32, 33, 100, 150}) {
    std::vector<double> A(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) A[i + i * n] = i == bad - 1 ? -1 : 2;
    const Tlr M(handle_, CHOL_TYPE_D, n, tile);
    const chol_tlr_options_t options = options_of(1e-6);
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    EXPECT_EQ(info, bad);
    // The result is neither a factor nor a matrix, and can be assembled again.
    double logdet;
    EXPECT_EQ(chol_tlr_logdet(handle_, M, &logdet, nullptr), CHOL_STATUS_INVALID_VALUE);
    EXPECT_EQ(chol_tlr_factor(handle_, M, &options, &info), CHOL_STATUS_INVALID_VALUE);
    A[bad - 1 + (bad - 1) * n] = 2;
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &options));
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    EXPECT_EQ(info, 0);
  }
}

/// An indefinite block diagonal matrix: the factor is close to that of the nearest definite matrix.
template <class T>
void modify_diagonal(chol_handle_t handle) {
  const int64_t n = 100, tile = 25;
  std::vector<T> A(static_cast<size_t>(n * n));
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal;
  for (int64_t block = 0; block < n / tile; ++block)
    for (int64_t j = 0; j < tile; ++j)
      for (int64_t i = j; i < tile; ++i) {
        const int64_t row = block * tile + i, column = block * tile + j;
        std::complex<double> value(normal(random), i == j ? 0 : normal(random));
        if (block % 2 == 0) value = i == j ? 2 : 0;
        if constexpr (is_complex<T>)
          A[row + column * n] = static_cast<T>(value);
        else
          A[row + column * n] = static_cast<T>(value.real());
        if constexpr (is_complex<T>)
          A[column + row * n] = std::conj(A[row + column * n]);
        else
          A[column + row * n] = A[row + column * n];
      }
  for (const int modify : {0, 1}) {
    chol_tlr_options_t options = options_of(1e-4);
    options.modify_diagonal = modify;
    const Tlr M(handle, type_of<T>(), n, tile);
    CHOL_ASSERT_SUCCESS(handle, chol_tlr_from_dense(handle, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle, chol_tlr_factor(handle, M, &options, &info));
    if (!modify) {
      EXPECT_GT(info, tile);
      continue;
    }
    ASSERT_EQ(info, 0);
    const chol_tlr_stats_t stats = stats_of(handle, M);
    EXPECT_EQ(stats.modified, 2);
    // The distance to the nearest semidefinite matrix is the modulus of the most negative
    // eigenvalue, about 10 (complex 14) here; that of Cheng and Higham's is rarely ten times as
    // large.
    const double distance = distance_to(handle, A, M, n);
    EXPECT_GT(distance, 5);
    EXPECT_LT(distance, 140);
  }
}

TEST_F(Definiteness, DiagonalTilesAreModified) {
  modify_diagonal<float>(handle_);
  modify_diagonal<double>(handle_);
  modify_diagonal<std::complex<float>>(handle_);
  modify_diagonal<std::complex<double>>(handle_);
}

TEST_F(Definiteness, NanEndsInInfo) {
  const int64_t n = 150, tile = 32;
  for (const auto& [row, column] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {40, 3}, {149, 2}, {149, 149}, {70, 69}}) {
    std::vector<double> A =
        dense_covariance<double>({CHOL_KERNEL_EXPONENTIAL}, ordered_points(2, n, tile));
    A[row + column * n] = std::nan("");
    const Tlr M(handle_, CHOL_TYPE_D, n, tile);
    const chol_tlr_options_t options = options_of(1e-3);
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    EXPECT_GT(info, 0) << row << ", " << column;
    EXPECT_LE(info, row / tile * tile + tile);
  }
}

TEST_F(Definiteness, ShiftIsAdded) {
  const int64_t n = 120, tile = 32;
  const Points points = ordered_points(2, n, tile);
  std::vector<double> A = dense_covariance<double>({CHOL_KERNEL_EXPONENTIAL}, points);
  const Tlr M(handle_, CHOL_TYPE_D, n, tile);
  chol_tlr_options_t options = options_of(1e-6);
  options.shift = 0.5;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &options));
  int info = -1;
  CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
  for (int64_t i = 0; i < n; ++i) A[i + i * n] += 0.5;
  EXPECT_LE(distance_to(handle_, A, M, n), 1e-6);
}

}  // namespace
}  // namespace chol::test
