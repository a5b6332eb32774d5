// Tests for devices only: kernels chosen by the number of matrices, and invalid arguments of a
// variable batch that are detected on the device.
#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr Settings kBatches{std::span(kLayouts).subspan(1), false, true},
    kVariable{std::span(kLayouts).subspan(3, 1), false, true};
constexpr int64_t kJudged = 3;  ///< matrices that differ; the others are copies of them
constexpr int64_t kFull = 300;  ///< more than two for each multiprocessor
constexpr size_t kLargestBatch = size_t(1) << 28;  ///< bytes

/// A batch of reference matrices, or of their factors, with right-hand sides.
template <class T>
struct Systems {
  Arrays<T> arrays;
  Dense<T> rhs;

  Systems(const Setting& s, Function function, int64_t count, int64_t n, int64_t nrhs)
      : arrays(s.memory, s.layout, uniform(count, n, n % 8 == 0 ? 8 : 1, nrhs, 2),
               {0, 1, Edge::end, 32}),
        rhs(n, nrhs) {
    Random random(static_cast<uint64_t>(n));
    rhs = random_dense<T>(n, nrhs, random);
    const bool takes_factor = function == Function::potrs || function == Function::potri;
    for (int64_t b = 0; b < count; ++b) {
      arrays.set_triangle(b, s.uplo, takes_factor ? its(b).L : its(b).A);
      arrays.set_rhs(b, rhs);
    }
  }
  const Reference<T>& its(int64_t b) const {
    return reference<T>(arrays.shape(b).n, static_cast<int>(b % kJudged));
  }
};

/// The first matrices are correct, and the others have their bits.
template <class T>
void judge(const Setting& s, const Systems<T>& systems, Function function) {
  const Arrays<T>& arrays = systems.arrays;
  std::vector<Dense<T>> factors, solutions;
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    Dense<T> L = arrays.lower(b, s.uplo), X = arrays.rhs(b);
    if (b >= kJudged) {
      const auto own = static_cast<size_t>(b % kJudged);
      ASSERT_EQ(arrays.info(b), arrays.info(b % kJudged));
      ASSERT_TRUE(L.values == factors[own].values) << "factor " << b;
      ASSERT_TRUE(X.values == solutions[own].values) << "solution " << b;
      continue;
    }
    if (has_info(function)) {
      ASSERT_TRUE(is_factor(arrays, b, s.uplo, systems.its(b).A));
    }
    if (has_rhs(function)) {
      ASSERT_TRUE(is_solution(arrays, b, systems.its(b).A, systems.rhs));
    }
    factors.push_back(std::move(L));
    solutions.push_back(std::move(X));
  }
}

template <class T>
void run_batch(const Setting& s, chol_handle_t handle, Function function, int64_t count, int64_t n,
               int64_t nrhs) {
  if (sizeof(T) * static_cast<size_t>(count * n * n) > kLargestBatch) return;
  SCOPED_TRACE(testing::Message() << "n " << n << " nrhs " << nrhs << " batch " << count);
  Systems<T> systems(s, function, count, n, nrhs);
  run_well(systems.arrays, handle, function, s.uplo);
  judge(s, systems, function);
}

CHOL_TEST(DeviceBatches, Potrf, kBatches) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {33, 40, 64, 65, 100, 129, 200, 257, 385, 450})
    if (!short_run() || n < 100) run_batch<T>(s, handle, Function::potrf, kFull, n, 0);
  for (const int64_t n : {641, 850, 961, 1110})
    if (!short_run()) run_batch<T>(s, handle, Function::potrf, 4, n, 0);
  // By clusters.
  for (const int64_t count : {16, 50, 75, 131})
    for (const int64_t n : {256, 385, 450, 641})
      if (!short_run() || (n < 300 && count < 75))
        run_batch<T>(s, handle, Function::potrf, count, n, 0);
}

template <class T>
void solve_many(const Setting& s, Function function) {
  const Handle handle(s.memory.backend());
  for (const int64_t n : {33, 60, 64, 65, 96, 97, 128, 150, 230})
    for (const int64_t nrhs : {1, 2, 3, 5, 16, 37, 70})
      if (!short_run() || (n < 100 && (n + nrhs) % 3 == 0))
        run_batch<T>(s, handle, function, kFull, n, nrhs);
}
CHOL_TEST(DeviceBatches, Potrs, kBatches) { solve_many<T>(s, Function::potrs); }
CHOL_TEST(DeviceBatches, Posv, kBatches) { solve_many<T>(s, Function::posv); }

/// Position of the argument in the C function.
int position_of(Function function, Fault fault) {
  const int order = has_rhs(function) ? 5 : 4, rhs_counts = has_rhs(function) ? 1 : 0;
  switch (fault) {
    case Fault::order:
      return order;
    case Fault::pointer:
      return order + rhs_counts + 1;
    case Fault::leading_dimension:
      return order + rhs_counts + 2;
    case Fault::none:
      break;
  }
  return 0;
}

/// info reports the invalid argument of a matrix, which is skipped; the others are processed.
template <class T>
void faults_of_a_variable_batch(const Setting& s, Function function) {
  const Handle handle(s.memory.backend());
  constexpr int64_t kCount = 61;
  for (const int64_t n : {10, 32, 60, 100, 300})
    for (const bool bounds_known : {true, false}) {
      SCOPED_TRACE(testing::Message() << "n " << n << " bounds known " << bounds_known);
      Systems<T> systems(s, function, kCount, n, 3);
      Arrays<T>& arrays = systems.arrays;
      arrays.bounds_known = bounds_known;
      arrays.faults.resize(20, Fault::none);
      arrays.faults[11] = Fault::order;
      arrays.faults[13] = Fault::leading_dimension;
      arrays.faults[17] = Fault::pointer;
      run_well(arrays, handle, function, s.uplo);
      for (int64_t b = 0; b < kCount; ++b) {
        const Fault fault = b < 20 ? arrays.faults[static_cast<size_t>(b)] : Fault::none;
        ASSERT_EQ(arrays.info(b), -position_of(function, fault)) << "matrix " << b;
        if (fault != Fault::none) continue;
        if (function == Function::potri)
          ASSERT_LT(inverse_ratio(systems.its(b).A, arrays.hermitian(b, s.uplo)), kThreshold);
        else
          ASSERT_TRUE(is_factor(arrays, b, s.uplo, systems.its(b).A));
        if (has_rhs(function)) {
          ASSERT_TRUE(is_solution(arrays, b, systems.its(b).A, systems.rhs));
        }
      }
    }
}
CHOL_TEST(DeviceBatches, InvalidArgumentsOfAVariableBatch, kVariable) {
  for (const Function function : {Function::potrf, Function::posv, Function::potri})
    faults_of_a_variable_batch<T>(s, function);
}

}  // namespace
}  // namespace chol::test
