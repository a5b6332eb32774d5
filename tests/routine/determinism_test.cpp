// The same bits in every run, for any number of threads, at any position in a batch and with any
// other matrices. A device treats a batch of one as one matrix, chooses by the largest order of a
// variable batch, and does not guarantee equal bits for all forms and both triangles, as the host
// does for factors.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "support/expect.hpp"
#include "support/oracle.hpp"
#include "support/random.hpp"
#include "support/setting.hpp"

namespace chol::test {
namespace {

constexpr int64_t kRhs = 3;
constexpr Function kDeterministic[] = {Function::potrf, Function::potrs, Function::posv,
                                       Function::potri, Function::pocon, Function::logdet};

/// Input of a routine for one matrix.
template <class T>
struct Input {
  Dense<T> triangle, rhs;
};

/// Output of a routine for one matrix, bit by bit.
template <class T>
struct Output {
  std::vector<T> triangle, rhs;
  int info;
  RealOf<T> result;

  bool same_as(const Output& other) const {
    const auto same = [](const auto& a, const auto& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
    };
    return same(triangle, other.triangle) && same(rhs, other.rhs) && info == other.info &&
           std::memcmp(&result, &other.result, sizeof result) == 0;
  }
};

template <class T>
Input<T> input_of(Function function, int64_t n, int variant) {
  Random random(static_cast<uint64_t>(variant));
  const Reference<T>& r = reference<T>(n, variant);
  const bool takes_matrix = function == Function::potrf || function == Function::posv;
  return {takes_matrix ? r.A : r.L, random_dense<T>(n, kRhs, random)};
}

/// A neighbour that must have no effect: every third one is not positive definite.
template <class T>
Input<T> neighbour_of(Function function, int64_t n, int variant) {
  Input<T> input = input_of<T>(function, n, variant % 3);
  if (variant % 3 == 2 && n > 0)
    input.triangle(variant % n, variant % n) = variant % 2 ? T(-1) : T(std::nan(""));
  return input;
}

/// The output for one of the inputs.
template <class T>
Output<T> run_all(const Setting& s, Function function, int threads,
                  const std::vector<Input<T>>& inputs, Placement placement, size_t place = 0) {
  const Handle handle(s.memory.backend(), threads);
  std::vector<Shape> shapes;
  for (const Input<T>& input : inputs) {
    const int64_t ld = std::max<int64_t>(input.triangle.rows, 1);
    shapes.push_back({input.triangle.rows, ld, kRhs, ld});
  }
  Arrays<T> arrays(s.memory, s.layout, std::move(shapes), placement);
  for (int64_t b = 0; b < arrays.batch(); ++b) {
    arrays.set_triangle(b, s.uplo, inputs[static_cast<size_t>(b)].triangle);
    arrays.set_rhs(b, inputs[static_cast<size_t>(b)].rhs);
  }
  arrays.anorm = 1;
  EXPECT_EQ(arrays.run(handle, function, s.uplo), CHOL_STATUS_SUCCESS) << handle.last_error();
  const auto b = static_cast<int64_t>(place);
  return {arrays.lower(b, s.uplo).values, arrays.rhs(b).values, arrays.info(b), arrays.result(b)};
}

/// Puts one matrix at several positions of a batch of others and compares with the result alone.
template <class T>
void same_bits_anywhere(const Setting& s, Function function, int64_t n) {
  const Input<T> input = input_of<T>(function, n, 0);
  const size_t copies = s.is_on_device() && s.layout != Layout::one ? 2 : 1;
  const std::vector<Input<T>> own(copies, input);
  const Output<T> alone = run_all<T>(s, function, 1, own, {});
  const bool mixes = mixes_orders(s.layout);
  const int64_t larger = s.is_on_device() ? 0 : 5;
  Random random(static_cast<uint64_t>(n));
  for (const int64_t batch : {1, 2, 5, 8, 9, 17, 33})
    for (int threads = 1; threads <= (s.is_on_device() ? 1 : 4); ++threads) {
      if ((s.layout == Layout::one || short_run()) && batch > 5) continue;
      if (batch < static_cast<int64_t>(copies) || !takes(s, n + batch + threads, 2)) continue;
      const auto place = static_cast<size_t>(random.integer(0, batch - 1));
      // Neighbours of similar orders are in the same lane group.
      const int64_t least = batch > 9 ? std::max<int64_t>(0, n - 9) : 0;
      std::vector<Input<T>> inputs;
      for (int64_t b = 0; b < batch; ++b)
        inputs.push_back(neighbour_of<T>(function, mixes ? random.integer(least, n + larger) : n,
                                         static_cast<int>(b)));
      inputs[place] = input;
      const Placement placement{random.integer(0, 5), random.integer(0, 5), Edge::end};
      ASSERT_TRUE(alone.same_as(run_all<T>(s, function, threads, inputs, placement, place)))
          << public_name(precision_letter<T>, function, s.layout) << ": n " << n << " batch "
          << batch << " place " << place << " threads " << threads;
    }
}

CHOL_TEST(Determinism, AnyPositionInABatch, kEverywhere) {
  for (const Function function : kDeterministic)
    for (const int64_t n : {1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 16, 17, 20, 24, 31, 33, 48, 65, 97}) {
      if ((short_run() && n > 33) || !exists(function, s.layout)) continue;
      same_bits_anywhere<T>(s, function, n);
      if (testing::Test::HasFailure()) return;
    }
}

/// cuBLAS, which works on one large matrix of a device, may choose by the alignment.
Placement moved(const Setting& s, int64_t offset) {
  return s.is_on_device() ? Placement{} : Placement{offset, offset % 2};
}

/// Large matrices are split over the threads.
CHOL_TEST(Determinism, AnyNumberOfThreads, kEverywhere) {
  for (const Function function : kDeterministic)
    for (const int64_t n : {130, 193, 257, 384, 513}) {
      if ((short_run() && n > 200) || !exists(function, s.layout)) continue;
      if (s.layout != Layout::one && !takes(s, n + static_cast<int>(function), 2)) continue;
      const std::vector<Input<T>> input = {input_of<T>(function, n, 0)};
      const Output<T> first = run_all<T>(s, function, 1, input, {});
      for (const int threads : {1, 2, 3, 7, 16, 64})
        ASSERT_TRUE(first.same_as(run_all<T>(s, function, threads, input, moved(s, threads % 5))))
            << public_name(precision_letter<T>, function, s.layout) << ": n " << n << " threads "
            << threads;
    }
}

/// Busy threads that compete for the cores.
class BusyThreads {
 public:
  BusyThreads() {
    const unsigned cores = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    for (unsigned i = 0; i < cores; ++i)
      threads_.emplace_back([this] {
        while (!done_.load(std::memory_order_relaxed)) {
        }
      });
  }
  BusyThreads(const BusyThreads&) = delete;
  ~BusyThreads() {
    done_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

/// Because of them helpers lose their cores during tasks.
CHOL_TEST(Determinism, WithBusyThreads, kOneMatrix) {
  const BusyThreads busy;
  for (const Function function : kDeterministic) {
    if (!exists(function, s.layout)) continue;
    const std::vector<Input<T>> input = {input_of<T>(function, 321, 0)};
    const Output<T> first = run_all<T>(s, function, 1, input, {});
    for (const int threads : {2, 7})
      ASSERT_TRUE(first.same_as(run_all<T>(s, function, threads, input, moved(s, 1))))
          << public_name(precision_letter<T>, function, s.layout) << ": threads " << threads;
  }
}

/// The factor and the failing pivot are the same for all code paths, including the short path of
/// small matrices.
CHOL_TEST(Determinism, FactorAloneAsInABatch, kOnHost) {
  Setting alone = s;
  alone.layout = Layout::one;
  for (int64_t n = 1; n <= (short_run() ? 17 : 41); ++n)
    for (int64_t failing = 0; failing <= n; failing += 1 + n / 5) {
      Input<T> input = input_of<T>(Function::potrf, n, 0);
      if (failing > 0) input.triangle(failing - 1, failing - 1) = T(failing % 2 ? -1 : INFINITY);
      const std::vector<Input<T>> five(5, input);
      const Placement placement{n % 3, n % 5, Edge::end};
      const auto outcome = [&](const Setting& setting, Function function, size_t count) {
        const auto some = std::vector<Input<T>>(five.begin(), five.begin() + count);
        Output<T> out = run_all<T>(setting, function, 1, some, placement, count - 1);
        out.rhs.clear();
        if (out.info != 0) out.triangle.clear();
        return out;
      };
      const Output<T> expected = outcome(alone, Function::potrf, 1);
      ASSERT_EQ(expected.info, failing) << "n " << n << " failing " << failing;
      for (const Function function : {Function::potrf, Function::posv}) {
        ASSERT_TRUE(expected.same_as(outcome(alone, function, 1)))
            << "n " << n << " failing " << failing;
        const size_t count = s.layout == Layout::one ? 1 : five.size();
        ASSERT_TRUE(expected.same_as(outcome(s, function, count)))
            << "n " << n << " failing " << failing;
      }
    }
}

/// A well-conditioned matrix that is generated as fast as it is read.
template <class T>
Input<T> dominant(int64_t n) {
  Random random(static_cast<uint64_t>(n));
  Input<T> input{random_dense<T>(n, n, random), random_dense<T>(n, kRhs, random)};
  for (int64_t i = 0; i < n; ++i) input.triangle(i, i) = T(static_cast<RealOf<T>>(2 * n));
  return input;
}

/// Solves with one vector are split over the threads, too, from larger orders on.
CHOL_TEST(Determinism, EstimateForAnyNumberOfThreads, kOneMatrix) {
  for (const int64_t n : {1501, 1664}) {
    if (short_run() ? n > 1600 : !takes(s, n, 2)) continue;
    const std::vector<Input<T>> input = {dominant<T>(n)};
    const Output<T> first = run_all<T>(s, Function::pocon, 1, input, {});
    ASSERT_GT(first.result, 0);
    for (const int threads : {2, 3, 16})
      ASSERT_TRUE(first.same_as(run_all<T>(s, Function::pocon, threads, input, moved(s, 1))))
          << "n " << n << " threads " << threads;
  }
}

/// The factor of the upper triangle is that of the lower one, conjugated, in every form and around
/// the orders from which on one matrix is factored by tiles; so is its inverse in the form for one
/// matrix.
CHOL_TEST(Determinism, BothTriangles, kOnHost) {
  Setting lower = s;
  lower.uplo = CHOL_LOWER;
  lower.layout = Layout::one;
  const bool alone = s.layout == Layout::one;
  // Compared as numbers: conjugation leaves -0 where the diagonal's imaginary part is 0.
  const auto outcome = [](const Setting& setting, Function function, int threads,
                          const std::vector<Input<T>>& inputs) {
    return run_all<T>(setting, function, threads, inputs, {1, 1}, inputs.size() - 1).triangle;
  };
  for (const int64_t n : {64, 97, 130, 192, 193, 200, 256, 257, 300, 385, 449, 600}) {
    if (n > (short_run() ? 300 : alone ? 600 : 449)) continue;
    const Input<T> input = dominant<T>(n);
    const std::vector<T> factor = outcome(lower, Function::potrf, 1, {input});
    const std::vector<Input<T>> inputs(alone ? 1 : 2, input);
    ASSERT_TRUE(factor == outcome(s, Function::potrf, 2, inputs)) << "factor, n " << n;
    if (!alone) continue;
    Input<T> factored = input;
    factored.triangle.values = factor;
    ASSERT_TRUE(outcome(lower, Function::potri, 1, {factored}) ==
                outcome(s, Function::potri, 2, {factored}))
        << "inverse, n " << n;
  }
}

}  // namespace
}  // namespace chol::test
