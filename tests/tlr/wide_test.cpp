// Solves and products with many right-hand sides, compared with the same with few at a time, which
// other tests compare with dense matrices; repeated calls give the same bits.
#include <cstring>

#include "support/setting.hpp"
#include "tlr/covariance.hpp"

namespace chol::test {
namespace {

template <class T>
class Wide : public testing::Test {
 protected:
  static constexpr bool kIsSingle = sizeof(RealOf<T>) == 4;
  enum class What : uint8_t { multiply, multiply_l, multiply_lh, solve, solve_l, solve_lh };

  /// Y := the result of operation `what` for X, `at_a_time` columns at a time.
  void apply(What what, chol_tlr_t M, int64_t n, int64_t nrhs, int64_t at_a_time,
             const std::vector<T>& X, int64_t ldx, std::vector<T>& Y, int64_t ldy) {
    for (int64_t c = 0; c < nrhs; c += at_a_time) {
      const int64_t here = std::min(at_a_time, nrhs - c);
      const T* const x = X.data() + c * ldx;
      T* const y = Y.data() + c * ldy;
      const int half = what == What::multiply_lh || what == What::solve_lh;
      if (what == What::multiply) {
        CHOL_ASSERT_SUCCESS(handle_, chol_tlr_multiply(handle_, M, here, x, ldx, y, ldy));
      } else if (what == What::multiply_l || what == What::multiply_lh) {
        CHOL_ASSERT_SUCCESS(handle_,
                            chol_tlr_multiply_half(handle_, M, half, here, x, ldx, y, ldy));
      } else {
        for (int64_t r = 0; r < here; ++r) std::copy_n(x + r * ldx, n, y + r * ldy);
        CHOL_ASSERT_SUCCESS(handle_, what == What::solve
                                         ? chol_tlr_solve(handle_, M, here, y, ldy)
                                         : chol_tlr_solve_half(handle_, M, half, here, y, ldy));
      }
    }
  }
  /// @param has_halves whether solves with L alone are supported: not for L D L^H
  void expect_columns_of_few(chol_tlr_t M, int64_t n, int64_t nrhs, bool has_halves = true) {
    const int64_t ldx = n + 3, ldy = n + 5;
    std::vector<T> X(static_cast<size_t>(ldx * nrhs)), Y(static_cast<size_t>(ldy * nrhs), T(7));
    for (size_t i = 0; i < X.size(); ++i) X[i] = static_cast<T>(RealOf<T>(std::sin(double(i))));
    for (int k = 0; k < 6; ++k) {
      const auto what = static_cast<What>(k);
      if (!has_halves && what != What::multiply && what != What::solve) continue;
      SCOPED_TRACE(testing::Message() << "nrhs " << nrhs << " what " << k);
      std::vector<T> few(Y), again(Y);
      apply(what, M, n, nrhs, nrhs, X, ldx, Y, ldy);
      apply(what, M, n, nrhs, nrhs, X, ldx, again, ldy);
      apply(what, M, n, nrhs, 3, X, ldx, few, ldy);
      EXPECT_EQ(std::memcmp(Y.data(), again.data(), sizeof(T) * Y.size()), 0);
      double size = 0, error = 0;
      for (size_t i = 0; i < Y.size(); ++i) {
        size = std::max<double>(size, std::abs(few[i]));
        const double difference = std::abs(Y[i] - few[i]);
        error = difference <= error ? error : difference;  // NaN is preserved
      }
      EXPECT_LE(error, (kIsSingle ? 1e-3 : 1e-10) * size);
    }
  }

  AnyHandle handle_;
};

TYPED_TEST_SUITE(Wide, Precisions, PrecisionNames);

/// 30 block rows and fewer, last ones of a few rows, tiles of rank 0, dense ones and odd orders.
TYPED_TEST(Wide, ColumnsAreThoseOfFew) {
  using T = TypeParam;
  struct Case {
    int64_t n, tile;
    double length, eps;
  };
  for (const Case& c :
       {Case{230, 48, 0.3, 1e-4}, Case{1001, 34, 0.3, 1e-4}, Case{700, 101, 0.01, 1e-2},
        Case{40, 64, 0.3, 1e-2}, Case{1100, 1024, 0.3, 1e-2}, Case{641, 64, 0.05, 1e-1}}) {
    if (short_run() && c.n > 700) continue;
    const Covariance covariance{CHOL_KERNEL_EXPONENTIAL, 0.5, c.length, 0.2};
    const Points points = ordered_points(3, c.n, c.tile);
    const chol_kernel_t kernel = covariance.kernel();
    const Tlr M(this->handle_, type_of<T>(), c.n, c.tile);
    const chol_tlr_options_t options = options_of(c.eps);
    CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_from_kernel(this->handle_, M, &kernel, points.dim,
                                                            points.x.data(), points.dim, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_factor(this->handle_, M, &options, &info));
    ASSERT_EQ(info, 0);
    const std::vector<int64_t> columns =
        short_run() ? std::vector<int64_t>{65} : std::vector<int64_t>{5, 17, 63, 64, 65, 130};
    for (const int64_t nrhs : columns) {
      SCOPED_TRACE(testing::Message() << "n " << c.n << " tile " << c.tile);
      this->expect_columns_of_few(M, c.n, nrhs);
    }
  }
}

/// Pivots of order 2 with interchanged rows, or interchanged tiles.
TYPED_TEST(Wide, ColumnsAreThoseOfFewOfPivotedFactors) {
  using T = TypeParam;
  const int64_t n = 430, tile = 34;
  for (const bool ldl : {true, false}) {
    std::vector<T> A =
        dense_covariance<T>({CHOL_KERNEL_EXPONENTIAL, 0.5, 0.3, 0.2}, ordered_points(2, n, tile));
    for (int64_t i = 0; ldl && i < n; ++i) A[i + i * n] = T(RealOf<T>(0.3));
    const Tlr M(this->handle_, type_of<T>(), n, tile);
    chol_tlr_options_t options = options_of(1e-3);
    options.ldl = ldl;
    options.pivot = !ldl;
    CHOL_ASSERT_SUCCESS(this->handle_,
                        chol_tlr_from_dense(this->handle_, M, CHOL_LOWER, A.data(), n, &options));
    int info = -1;
    CHOL_ASSERT_SUCCESS(this->handle_, chol_tlr_factor(this->handle_, M, &options, &info));
    ASSERT_EQ(info, 0);
    const std::vector<int64_t> columns =
        short_run() ? std::vector<int64_t>{17} : std::vector<int64_t>{17, 64};
    for (const int64_t nrhs : columns) this->expect_columns_of_few(M, n, nrhs, !ldl);
  }
}

}  // namespace
}  // namespace chol::test
