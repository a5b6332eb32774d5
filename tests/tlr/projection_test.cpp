// Tiles that are projected on a basis: all of them on the host and if a tuning row selects it; on a
// device otherwise those for which samples of both sides are insufficient.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

template <class T>
class Projection : public testing::Test {
 protected:
  static constexpr bool kIsSingle = sizeof(RealOf<T>) == 4;

  /// Samples of one column are never sufficient.
  static chol_tlr_options_t options_of_few(double eps) {
    chol_tlr_options_t options = options_of(eps);
    options.sample_columns = 1;
    return options;
  }
  void factor(const std::vector<T>& A, chol_tlr_t M, int64_t n, const chol_tlr_options_t& options) {
    const chol_tlr_options_t of_assembly = options_of(options.eps);
    CHOL_ASSERT_SUCCESS(handle_,
                        chol_tlr_from_dense(handle_, M, CHOL_LOWER, A.data(), n, &of_assembly));
    int info = -1;
    CHOL_ASSERT_SUCCESS(handle_, chol_tlr_factor(handle_, M, &options, &info));
    ASSERT_EQ(info, 0);
  }
  std::vector<char> bytes_of(chol_tlr_t M) {
    const std::string path = testing::TempDir() + "chol_tlr_projected_" + precision_letter<T>;
    CHOL_EXPECT_SUCCESS(handle_, chol_tlr_save(M, path.c_str()));
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    file.close();
    std::remove(path.c_str());
    return bytes;
  }

  AnyHandle handle_;
};

TYPED_TEST_SUITE(Projection, Precisions, PrecisionNames);

TYPED_TEST(Projection, WithinEpsWithTheSameBits) {
  using T = TypeParam;
  const int64_t n = 310, tile = 64;
  for (const auto& [dim, eps] : std::vector<std::pair<int, double>>{{2, 1e-2}, {1, 1e-7}}) {
    if (this->kIsSingle && eps < 1e-4) continue;
    const std::vector<T> A =
        dense_covariance<T>({CHOL_KERNEL_SQUARED_EXPONENTIAL, 0.5, dim == 1 ? 0.05 : 0.3, 0.1},
                            ordered_points(dim, n, tile));
    for (const int kind : {0, 1, 2}) {  // Cholesky, indefinite, pivoted
      SCOPED_TRACE(testing::Message() << "dim " << dim << " eps " << eps << " kind " << kind);
      chol_tlr_options_t options = this->options_of_few(eps);
      options.ldl = kind == 1;
      options.pivot = kind == 2;
      std::vector<std::vector<char>> files;
      for (const uint64_t seed : {uint64_t{7}, uint64_t{7}, uint64_t{8}}) {
        if (seed == 8 && kind > 0) continue;
        options.seed = seed;
        const Tlr M(this->handle_, type_of<T>(), n, tile);
        this->factor(A, M, n, options);
        if (this->HasFatalFailure()) return;
        files.push_back(this->bytes_of(M));
        if (files.size() == 2) continue;
        EXPECT_LE(distance_to(this->handle_, A, M, n), eps);
        const chol_tlr_stats_t stats = stats_of(this->handle_, M);
        EXPECT_GT(stats.projected_tiles, 0);
        EXPECT_LE(stats.projected_tiles, stats.tiles * (stats.tiles - 1) / 2 - stats.dense_tiles);
      }
      EXPECT_EQ(files[0], files[1]);
      EXPECT_TRUE(kind > 0 || files[0] != files[2]);
    }
  }
}

/// Tiles that fit into the shared memory of a device, and tiles that do not.
TYPED_TEST(Projection, OfLargeTiles) {
  using T = TypeParam;
  const double eps = this->kIsSingle ? 1e-2 : 1e-5;
  for (const auto& [n, tile] :
       std::vector<std::pair<int64_t, int64_t>>{{1100, 512}, {1500, 1024}}) {
    if (!is_on_device() && tile == 1024) continue;
    SCOPED_TRACE(testing::Message() << "n " << n << " tile " << tile);
    const std::vector<T> A =
        dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.1}, ordered_points(2, n, tile));
    const Tlr M(this->handle_, type_of<T>(), n, tile);
    this->factor(A, M, n, this->options_of_few(eps));
    if (this->HasFatalFailure()) return;
    EXPECT_LE(distance_to(this->handle_, A, M, n, 8), eps);
    EXPECT_GT(stats_of(this->handle_, M).projected_tiles, 0);
  }
}

/// Ranks up to about half the order, so that a tile is sampled again or becomes dense.
TYPED_TEST(Projection, OfManyRanks) {
  using T = TypeParam;
  const int64_t n = 200, tile = 100;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const double eps = this->kIsSingle ? 1e-2 : 1e-6;
  for (const int64_t rank : {30, 45, 50, 60}) {
    std::vector<T> A(static_cast<size_t>(n * n), T(0)), U(static_cast<size_t>(tile * rank)), V(U);
    for (T& x : U) x = T(RealOf<T>(normal(random)));
    for (T& x : V) x = T(RealOf<T>(normal(random)));
    for (int64_t j = 0; j < tile; ++j)
      for (int64_t i = 0; i < tile; ++i) {
        T sum = 0;
        for (int64_t k = 0; k < rank; ++k) sum += U[i + k * tile] * V[j + k * tile];
        A[tile + i + j * n] = sum / RealOf<T>(tile);
        A[j + (tile + i) * n] = A[tile + i + j * n];  // real: see U and V
      }
    for (int64_t i = 0; i < n; ++i) A[i + i * n] = T(5);
    const Tlr M(this->handle_, type_of<T>(), n, tile);
    this->factor(A, M, n, this->options_of_few(eps));
    if (this->HasFatalFailure()) return;
    SCOPED_TRACE(testing::Message() << "rank " << rank);
    EXPECT_LE(distance_to(this->handle_, A, M, n), eps);
    const chol_tlr_stats_t stats = stats_of(this->handle_, M);
    EXPECT_EQ(stats.max_rank, stats.dense_tiles == 0 ? rank : 0);
    EXPECT_EQ(stats.dense_tiles, rank > tile / 2);
    // A tile that is dense in A remains dense on a device.
    EXPECT_EQ(stats.projected_tiles, stats.dense_tiles == 0);
  }
}

/// Data that a factor keeps for solves is reported separately from its tiles.
TYPED_TEST(Projection, StatisticsCountInverses) {
  using T = TypeParam;
  const int64_t n = 230, tile = 48, nrhs = 20;
  const std::vector<T> A =
      dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.2}, ordered_points(2, n, tile));
  const Tlr M(this->handle_, type_of<T>(), n, tile);
  const chol_tlr_options_t options = options_of(1e-2);
  CHOL_ASSERT_SUCCESS(this->handle_,
                      chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &options));
  EXPECT_EQ(stats_of(this->handle_, M).inverse_bytes, 0);
  int info = -1;
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_factor(this->handle_, M, &options, &info));
  const chol_tlr_stats_t factored = stats_of(this->handle_, M);
  EXPECT_GT(factored.inverse_bytes, 0);
  std::vector<T> X(static_cast<size_t>(n * nrhs), T(1));
  CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_solve(this->handle_, M, nrhs, X.data(), n));
  const chol_tlr_stats_t solved = stats_of(this->handle_, M);
  EXPECT_GE(solved.inverse_bytes, factored.inverse_bytes);
  EXPECT_EQ(solved.bytes, factored.bytes);
  // A caller compiled with the first members only: the others are not written.
  chol_tlr_stats_t first{};
  first.size = offsetof(chol_tlr_stats_t, inverse_bytes);
  first.projected_tiles = -7;
  CHOL_EXPECT_SUCCESS(this->handle_, chol_tlr_stats(M, &first));
  EXPECT_EQ(first.bytes, factored.bytes);
  EXPECT_EQ(first.modified, 0);
  EXPECT_EQ(first.projected_tiles, -7);
}

}  // namespace
}  // namespace chol::test
