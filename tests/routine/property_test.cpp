// Random calls: any routine in any form on any shapes, data and number of threads, of one triangle
// and on host or device arrays. Every call has a separate seed, printed on failure:
//   CHOL_TEST_SEED=that CHOL_TEST_CALLS=1 repeats it.
#include <cstdlib>
#include <iostream>
#include <random>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int kVariants = 8;

uint64_t number_from(const char* variable, uint64_t by_default) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : by_default;
}

template <class T>
class RandomCall {
 public:
  RandomCall(const Setting& s, uint64_t seed) : memory_(s.memory), random_(seed), uplo_(s.uplo) {
    function_ = kFunctions[random_.integer(0, 5)];
    layout_ = function_ == Function::pocon ? Layout::one : kLayouts[random_.integer(0, 4)];
    threads_ = static_cast<int>(random_.integer(1, 3));
  }

  /// Number of C calls.
  int64_t run() {
    Arrays<T> arrays(memory_, layout_, shapes(),
                     {random_.integer(0, 4), random_.integer(0, 3),
                      random_.chance(0.5) ? Edge::start : Edge::end, random_.integer(1, 20)});
    arrays.bounds_known = random_.chance(0.5);
    arrays.anorm = 1;
    fill(arrays);
    const Handle handle(memory_.backend(), threads_);
    SCOPED_TRACE(testing::Message()
                 << public_name(precision_letter<T>, function_, layout_) << " uplo "
                 << static_cast<char>(uplo_) << " batch " << arrays.batch() << " first order "
                 << (arrays.batch() > 0 ? arrays.shape(0).n : 0) << " threads " << threads_);
    run_well(arrays, handle, function_, uplo_);
    for (int64_t b = 0; b < arrays.batch(); ++b) judge(arrays, b);
    return layout_ == Layout::one ? arrays.batch() : 1;
  }

 private:
  int64_t order() {
    if (random_.chance(0.7)) return random_.integer(0, 12);
    return random_.chance(0.85) ? random_.integer(0, 40) : random_.integer(0, 90);
  }

  std::vector<Shape> shapes() {
    const bool mixed = mixes_orders(layout_);
    const auto shape = [&](int64_t n) {
      const int64_t floor = std::max<int64_t>(n, 1);
      return Shape{n, floor + random_.integer(0, 4), has_rhs(function_) ? random_.integer(0, 9) : 0,
                   floor + random_.integer(0, 4)};
    };
    const Shape first = shape(order());
    const int64_t batch = random_.integer(0, first.n > 20 ? 5 : layout_ == Layout::one ? 3 : 20);
    std::vector<Shape> all(static_cast<size_t>(batch), first);
    for (Shape& s : all)
      if (mixed) s = shape(random_.integer(0, first.n + 3));
    return all;
  }

  void fill(Arrays<T>& arrays) {
    const bool takes_matrix = function_ == Function::potrf || function_ == Function::posv;
    for (int64_t b = 0; b < arrays.batch(); ++b) {
      const Shape& s = arrays.shape(b);
      const Reference<T>& r =
          reference<T>(s.n, static_cast<int>(random_.integer(0, kVariants - 1)));
      matrices_.push_back(takes_matrix ? r.A : r.L);
      originals_.push_back(&r);
      pivots_.push_back(0);
      if (takes_matrix && s.n > 0 && random_.chance(0.15)) {
        const int64_t k = random_.integer(0, s.n - 1);
        matrices_.back()(k, k) = random_.chance(0.5) ? T(-1) : T(std::nan(""));
        pivots_.back() = k + 1;
      }
      arrays.set_triangle(b, uplo_, matrices_.back());
      arrays.spoil_diagonal(b);
      rhs_.push_back(random_dense<T>(s.n, s.nrhs, random_));
      arrays.set_rhs(b, rhs_.back());
    }
  }

  void judge(const Arrays<T>& arrays, int64_t b) {
    const auto at = static_cast<size_t>(b);
    if (has_rhs(function_) && pivots_[at] == 0) {
      EXPECT_TRUE(is_solution(arrays, b, originals_[at]->A, rhs_[at]));
    }
    switch (function_) {
      case Function::potrf:
      case Function::posv:
        EXPECT_TRUE(pivots_[at] == 0 ? is_factor(arrays, b, uplo_, originals_[at]->A)
                                     : stopped_at(arrays, b, uplo_, matrices_[at], pivots_[at]));
        break;
      case Function::potri:
        EXPECT_EQ(arrays.info(b), 0);
        EXPECT_LT(inverse_ratio(originals_[at]->A, arrays.hermitian(b, uplo_)), kThreshold);
        break;
      case Function::logdet:
        EXPECT_TRUE(std::isfinite(arrays.result(b)));
        break;
      case Function::pocon:
        EXPECT_GT(arrays.result(b), 0);
        break;
      case Function::potrs:
        break;
    }
  }

  Memory& memory_;
  Random random_;
  Function function_;
  Layout layout_;
  const chol_uplo_t uplo_;
  int threads_;
  std::vector<Dense<T>> matrices_, rhs_;
  std::vector<const Reference<T>*> originals_;
  std::vector<int64_t> pivots_;
};

CHOL_TEST(Property, RandomCalls, kOneMatrix) {
  const uint64_t calls = number_from("CHOL_TEST_CALLS", 5000);
  uint64_t seed = number_from("CHOL_TEST_SEED", std::random_device{}());
  std::cout << "CHOL_TEST_SEED=" << seed << " CHOL_TEST_CALLS=" << calls << std::endl;
  for (uint64_t done = 0; done < calls; ++seed) {
    done += static_cast<uint64_t>(std::max<int64_t>(1, RandomCall<T>(s, seed).run()));
    ASSERT_FALSE(testing::Test::HasFailure())
        << "to repeat: CHOL_TEST_SEED=" << seed << " CHOL_TEST_CALLS=1";
  }
}

}  // namespace
}  // namespace chol::test
