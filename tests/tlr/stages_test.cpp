// Inverses of several block rows of a factor, with operations in plain loops.
#include <complex>
#include <limits>
#include <vector>

#include "support/precisions.hpp"
#include "tlr/plain_ops.hpp"
#include "tlr/stage_inverses.hpp"

namespace chol::tlr {
namespace {

template <class T>
class Stages : public testing::Test {};
TYPED_TEST_SUITE(Stages, test::Precisions);

/// L times the inverse of a stage is the identity, for tiles of low rank, dense ones and of rank 0.
TYPED_TEST(Stages, TimesTheFactorAreTheIdentity) {
  using T = TypeParam;
  PlainOps<T> ops;
  const std::vector<int64_t> starts{0, 9, 18, 20, 29, 38};
  const int64_t count = 5, ranks[] = {2, 0, -1, 3, 1, -1, 4, 2, 0, 1};
  const auto random = [&](int64_t m, int64_t n) {
    std::vector<T> x(static_cast<size_t>(m * n));
    for (T& element : x)
      element = T(RealOf<T>(std::sin(double(&element - x.data()) * 1.7 + double(m))));
    return x;
  };
  backend::LowerTiles<T> L;
  L.tile = 9;
  L.starts = starts;
  const auto rows = [&](int64_t i) { return starts[i + 1] - starts[i]; };
  std::vector<std::vector<T>> memory;
  memory.reserve(100);
  std::vector<T> dense(static_cast<size_t>(starts.back() * starts.back()));
  const int64_t n = starts.back();
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      const int64_t rank = ranks[i * (i - 1) / 2 + j];
      const auto& U = memory.emplace_back(random(rows(i), rank < 0 ? rows(j) : rank));
      const auto& V = memory.emplace_back(random(rows(j), std::max<int64_t>(rank, 0)));
      L.tiles.push_back({U.data(), V.data(), rank});
      for (int64_t b = 0; b < rows(j); ++b)
        for (int64_t a = 0; a < rows(i); ++a) {
          T sum = rank < 0 ? U[a + b * rows(i)] : T(0);
          for (int64_t k = 0; k < rank; ++k)
            sum += U[a + k * rows(i)] * conjugate(V[b + k * rows(j)]);
          dense[starts[i] + a + (starts[j] + b) * n] = sum;
        }
    }
    // Inverted diagonal tiles with one column below the diagonal.
    auto& inverse = memory.emplace_back(static_cast<size_t>(rows(i) * rows(i)));
    for (int64_t a = 0; a < rows(i); ++a) {
      dense[starts[i] + a + (starts[i] + a) * n] = T(2);
      if (a > 0) dense[starts[i] + a + starts[i] * n] = T(1);
      inverse[a + a * rows(i)] = T(RealOf<T>(0.5));
      if (a > 0) inverse[a] = T(RealOf<T>(-0.25));
    }
    L.inverses.push_back(inverse.data());
  }
  for (const int64_t stage : {1, 2, 3, 5}) {
    const std::vector<Buffer<T>> inverses = stage_inverses(ops, L, stage);
    ASSERT_EQ(std::ssize(inverses), (count + stage - 1) / stage);
    for (int64_t s = 0; s < std::ssize(inverses); ++s) {
      const int64_t start = starts[s * stage];
      const int64_t order = starts[std::min(count, (s + 1) * stage)] - start;
      for (int64_t j = 0; j < order; ++j)
        for (int64_t i = 0; i < order; ++i) {
          T sum(0);
          RealOf<T> size = 1;
          for (int64_t k = 0; k < order; ++k) {
            const T term = dense[start + i + (start + k) * n] * inverses[s].get()[k + j * order];
            sum += term;
            size += std::abs(term);
          }
          ASSERT_LE(std::abs(sum - T(RealOf<T>(i == j))),
                    1000 * size * std::numeric_limits<RealOf<T>>::epsilon())
              << "stage " << stage << ": " << i << ", " << j;
        }
    }
  }
}

}  // namespace
}  // namespace chol::tlr
