// The factorization by operations with cores and look-ahead, as on a device: here plain loops on
// the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "support/precisions.hpp"
#include "tlr/assemble.hpp"
#include "tlr/describe.hpp"
#include "tlr/factor.hpp"
#include "tlr/plain_ops.hpp"
#include "tlr/rank_guess.hpp"

namespace chol::tlr {
namespace {

/// An exponential covariance of random points on a line or in a square.
template <class T>
std::vector<T> covariance(int dim, int64_t n) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform;
  std::vector<std::pair<double, double>> x(static_cast<size_t>(n));
  for (auto& point : x) point = {uniform(engine), dim > 1 ? uniform(engine) : 0};
  std::sort(x.begin(), x.end());
  std::vector<T> A(static_cast<size_t>(n * n));
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < n; ++i) {
      const double u = x[i].first - x[j].first, v = x[i].second - x[j].second;
      const double value = std::exp(-std::hypot(u, v) / 0.3) + (i == j ? 0.01 : 0);
      if constexpr (is_complex<T>)
        A[i + j * n] = static_cast<T>(std::polar(value, u + v));
      else
        A[i + j * n] = static_cast<T>(value);
    }
  return A;
}

template <class T>
class Cores : public testing::Test {
 protected:
  /// ||A - L L^H||_F after assembly and factorization.
  double error(const std::vector<T>& A, int64_t n, int64_t tile, double eps, int64_t workspace) {
    chol_tlr_options_t options{};
    options.size = sizeof options;
    options.eps = eps;
    options.compensate = 1;
    options.workspace_bytes = static_cast<decltype(options.workspace_bytes)>(workspace);
    return error(A, n, tile, options);
  }
  double error(const std::vector<T>& A, int64_t n, int64_t tile,
               const chol_tlr_options_t& options) {
    PlainOps<T> ops;
    ops.are_two_sided = are_two_sided_;
    Matrix<T> M(n, tile);
    DenseSource<T> source(A.data(), n, false);
    Control control("test", options);
    int info = -1;
    EXPECT_TRUE(assemble<T>(ops, M, source, options, control).ok());
    EXPECT_TRUE(factor<T>(ops, M, options, control, &info).ok());
    EXPECT_EQ(info, 0);
    has_low_rank_ = has_dense_ = false;
    counts_ = count_tiles(M);
    std::vector<T> L(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < M.tiles; ++i) {
      T* const row = L.data() + M.start(i);
      ops.transfer(M.rows(i), M.rows(i), M.diagonal[i].get(), M.rows(i), row + M.start(i) * n, n);
      for (int64_t j = 0; j < i; ++j) {
        const Tile<T>& t = M.at(i, j);
        (t.dense ? has_dense_ : has_low_rank_) = true;
        if (t.dense) {
          ops.transfer(M.rows(i), M.rows(j), t.U.get(), M.rows(i), row + M.start(j) * n, n);
          continue;
        }
        backend::ProductGroups<T> product;
        product.begin_group();
        product.add({false, true, 0, M.rows(i), M.rows(j), t.rank, t.U.get(), M.rows(i), t.V.get(),
                     M.rows(j), row + M.start(j) * n, n});
        ops.multiply(product);
      }
    }
    is_permuted_ = !M.permutation.empty();
    const auto place = [&](int64_t i) { return is_permuted_ ? M.permutation[i] : i; };
    std::vector<RealOf<T>> signs(static_cast<size_t>(n), 1);
    for (int64_t i = 0; i < std::ssize(M.signs); ++i)
      std::copy(M.signs[i].begin(), M.signs[i].end(), signs.begin() + M.start(i));
    double square = 0;
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < n; ++i) {
        T sum = 0;  // L has an element above the diagonal for a pivot of order 2
        for (int64_t k = 0; k <= std::min({i + 1, j + 1, n - 1}); ++k)
          sum += L[i + k * n] * signs[k] * conjugate(L[j + k * n]);
        square += std::norm(std::complex<double>(A[place(i) + place(j) * n] - sum));
      }
    return std::sqrt(square);
  }
  bool are_two_sided_ = true;
  bool has_low_rank_ = false, has_dense_ = false, is_permuted_ = false;
  TileCounts counts_;
};

TYPED_TEST_SUITE(Cores, test::Precisions);

TYPED_TEST(Cores, FactorWithinEps) {
  const bool is_single = sizeof(RealOf<TypeParam>) == 4;
  for (const auto& [dim, n, tile] :
       std::vector<std::tuple<int, int64_t, int64_t>>{{1, 200, 40}, {2, 250, 50}, {1, 130, 64}}) {
    const auto A = covariance<TypeParam>(dim, n);
    for (const double eps : {1e-2, 1e-7}) {
      if (is_single && eps < 1e-4) continue;
      for (const int64_t workspace : {int64_t{0}, int64_t{20000}}) {
        SCOPED_TRACE(testing::Message() << "dim " << dim << " tile " << tile << " eps " << eps
                                        << " workspace " << workspace);
        // The Frobenius norm of an error of high rank exceeds its 2-norm.
        EXPECT_LE(this->error(A, n, tile, eps, workspace), 4 * eps);
        EXPECT_TRUE(dim == 2 || this->has_low_rank_);
        EXPECT_TRUE(dim == 1 || eps > 1e-4 || this->has_dense_);
      }
    }
  }
}

/// By projection if samples of both sides are insufficient, or for all tiles; without pivoting,
/// with tiles of L D L^H and with interchanged tiles.
TYPED_TEST(Cores, ProjectedWithinEps) {
  using T = TypeParam;
  constexpr int64_t kOrder = 210, kTile = 50;
  const auto A = covariance<T>(2, kOrder);
  for (const bool are_two_sided : {true, false})
    for (const auto& [pivot, ldl] : {std::pair{0, 0}, {1, 0}, {0, 1}}) {
      SCOPED_TRACE(testing::Message()
                   << "two-sided " << are_two_sided << " pivot " << pivot << " ldl " << ldl);
      chol_tlr_options_t options{};
      options.size = sizeof options;
      options.eps = 1e-2;
      options.pivot = pivot;
      options.ldl = ldl;
      options.compensate = !ldl;
      options.sample_columns = are_two_sided ? 1 : 0;
      this->are_two_sided_ = are_two_sided;
      EXPECT_LE(this->error(A, kOrder, kTile, options), 4 * options.eps);
      EXPECT_GT(this->counts_.projection, 0);
      EXPECT_TRUE(are_two_sided || this->counts_.nystrom == 0);
    }
}

/// The largest ratio of similar ranks in the last three columns.
TEST(Ranks, AreGuessed) {
  constexpr int64_t kTile = 64, kTiles = 8;
  Matrix<double> A(kTile * kTiles, kTile);
  A.clear();
  RankGuess guess;
  EXPECT_EQ(guess(0), 0);
  EXPECT_EQ(guess(30), 30);
  const auto column = [&](int64_t k, int64_t before, int64_t after) {
    const auto set = [&](int64_t rank) {
      for (int64_t i = k + 1; i < kTiles; ++i) A.at(i, k).rank = rank;
    };
    set(before);
    guess.begin_column(A, k);
    set(after);
    guess.end_column(A, k);
  };
  column(0, 30, 21);
  EXPECT_EQ(guess(30), 21);
  EXPECT_EQ(guess(29), 20);
  EXPECT_EQ(guess(10), 10);  // no such rank yet
  column(1, 30, 24);
  EXPECT_EQ(guess(30), 24);
  column(2, 30, 12);
  column(3, 10, 12);
  EXPECT_EQ(guess(30), 24);
  EXPECT_EQ(guess(10), 10);  // at most the rank in A
  column(4, 30, 15);
  EXPECT_EQ(guess(30), 15);
}

/// Interchanged tiles are not sampled by finished columns; rows are interchanged after the sampling
/// and the look-ahead.
TYPED_TEST(Cores, PivotedAndIndefiniteFactors) {
  using T = TypeParam;
  constexpr int64_t kOrder = 210, kTile = 40;
  // Diagonal tiles of different norms; small elements of both signs require interchanges.
  const auto scale_of = [](int64_t i) { return RealOf<T>(1 + i / kTile * 2 % 5); };
  for (const int dim : {1, 2})
    for (const auto& [pivot, ldl, are_two_sided] :
         {std::tuple{1, 0, true}, {0, 1, true}, {2, 1, true}, {0, 1, false}, {2, 1, false}}) {
      auto A = covariance<T>(dim, kOrder);
      for (int64_t i = 0; ldl && i < kOrder; ++i)
        A[i + i * kOrder] *= RealOf<T>(i % 3 == 1 ? -1 : 0.3);
      for (int64_t j = 0; j < kOrder; ++j)
        for (int64_t i = 0; i < kOrder; ++i) A[i + j * kOrder] *= scale_of(i) * scale_of(j);
      this->are_two_sided_ = are_two_sided;
      chol_tlr_options_t options{};
      options.size = sizeof options;
      options.eps = sizeof(RealOf<T>) == 4 ? 1e-2 : 1e-3;
      options.pivot = pivot;
      options.ldl = ldl;
      options.compensate = !ldl;
      SCOPED_TRACE(testing::Message() << "dim " << dim << " pivot " << pivot << " ldl " << ldl
                                      << " two-sided " << are_two_sided);
      EXPECT_LE(this->error(A, kOrder, kTile, options), 4 * options.eps);
      EXPECT_TRUE(this->has_low_rank_);
      EXPECT_TRUE(this->is_permuted_);
    }
}

}  // namespace
}  // namespace chol::tlr
