// The parts of the kernels of cuda/native/persistent and update by contexts of the host: the chain
// and one or two concurrent blocks of groups, each with its own shared memory. It is initialized
// with NaN and copies are executed when waited for, which detects reads that are too early or of
// uninitialized memory.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "elements.hpp"
#include "kernel_matrix.hpp"
#include "native/persistent/chain.cuh"
#include "native/persistent/worker.cuh"
#include "native/update/trailing.cuh"

namespace chol::cuda {

constexpr size_t kBlockShared = 256 << 10;
alignas(128) unsigned char shared[3 * kBlockShared];

namespace persistent {
namespace {

int failures = 0;

void expect(bool good, const char* what, char upper, int n, double value) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: %c n %d value %g\n", what, upper, n, value);
}

/// Code of each thread of the grid.
template <class T, bool swapped, bool aligned>
void run_thread(const Call<T>& call) {
  using C = Config<T>;
  const int block = HostBlock::running / C::kThreads, thread = HostBlock::running % C::kThreads;
  const int warp = thread / 32, lane = thread % 32;
  unsigned char* const memory = shared + block * kBlockShared;
  if (block == 0) {
    const Chain<T, swapped, aligned> chain(call, memory, lane);
    chain.load_first(thread);
    __syncthreads();
    chain.run(warp);
    return;
  }
  __syncthreads();
  auto* const barriers = reinterpret_cast<GroupBarriers<T>*>(memory);
  constexpr int kComputing = C::kGroups * C::kWarps;
  const int group = warp < kComputing ? warp / C::kWarps : warp - kComputing;
  if (group >= call.groups) return;
  const Group<T, swapped, aligned> mine{
      call, barriers[group], memory + kBarrierBytes + group * C::kGroupBytes, group, lane};
  if (warp < kComputing)
    mine.compute(warp % C::kWarps);
  else
    mine.copy();
}

/// One matrix of order n, of which the first columns are factored.
template <class T, bool swapped>
class Problem {
 public:
  Problem(int n, int columns, int ld)
      : n_(n), columns_(columns), ld_(ld), A_(size_t(ld) * n + 2, from_real<T>(-77)) {
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i)
        at(i, j) = i == j ? from_real<T>(Real<T>(n)) : random_element<T>();
    before_ = A_;
  }
  /// The matrix of kernel_matrix.hpp, with ill-conditioned diagonal blocks.
  static Problem of_kernel(int n) {
    Problem problem(n, n, n);
    const std::vector<long double> A = kernel_matrix<Real<T>>(n, 0, n);
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i)
        problem.at(i, j) = kernel_element<T, Real<T>>(A[size_t(j) * n + i], i, j);
    problem.before_ = problem.A_;
    return problem;
  }
  T& at(int i, int j) { return A_[1 + (swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i)]; }

  template <bool aligned>
  void factor(int groups, bool backwards) {
    using C = Config<T>;
    std::memset(shared, 0xFF, sizeof shared);
    const int rows = (n_ + C::kOrder - 1) / C::kOrder;
    std::vector<int> flags(flag_ints(rows, rows), 0);
    std::vector<Doubled<T>> scratch(4 * rows * C::kScratchTile,
                                    from_real<Doubled<T>>(std::nan("")));
    const Call<T> call{&at(0, 0), nullptr, ld_,    n_,           columns_,
                       0,         groups,  &info_, flags.data(), scratch.data()};
    const int blocks = C::kComplex ? 3 : 2;
    Chain<T, swapped, aligned>(call, shared, 0).prepare_barriers();
    for (int block = 1; block < blocks; ++block)
      for (int group = 0; group < C::kGroups; ++group)
        Group<T, swapped, aligned>::prepare_barriers(
            reinterpret_cast<GroupBarriers<T>*>(shared + block * kBlockShared)[group]);
    HostBlock(blocks * C::kThreads, backwards).run([&] { run_thread<T, swapped, aligned>(call); });
  }

  /// Subtracts the products with columns [0, depth) from columns [column, column + width), by two
  /// blocks, one after the other.
  template <bool aligned>
  void update(int depth, int column, int width, bool backwards) {
    using C = update::Config<T>;
    const update::Call<T> call{&at(0, 0), ld_, n_, 0, depth, column, width};
    for (int block = 0; block < 2; ++block) {
      std::memset(shared, 0xFF, sizeof shared);
      auto& barriers = *reinterpret_cast<update::Barriers<T>*>(shared);
      barriers.prepare();
      HostBlock(C::kThreads, backwards).run([&] {
        const int thread = HostBlock::running;
        update::TrailingUpdate<T, swapped, aligned>{
            call, barriers, reinterpret_cast<T*>(shared + kBarrierBytes), thread, block, 2}
            .run(thread / 32);
      });
    }
    check_update(depth, column, width);
  }
  void check_update(int depth, int column, int width) {
    std::vector<T> updated = A_;
    double most = 0;
    for (int j = column; j < std::min(column + width, n_); ++j)
      for (int i = j; i < n_; ++i) {
        std::swap(A_, before_);
        Doubled<T> sum = convert<Doubled<T>>(at(i, j));
        for (int k = 0; k < depth; ++k)
          sum = subtract_product_conj(sum, convert<Doubled<T>>(at(i, k)),
                                      convert<Doubled<T>>(at(j, k)));
        T* const given = &at(i, j);
        std::swap(A_, before_);
        const Doubled<T> its = convert<Doubled<T>>(at(i, j));
        const double error = size_of(subtract_product_conj(sum, its, from_real<Doubled<T>>(1)));
        most = std::max(most, error == error ? error : 1e300);
        updated[given - before_.data()] = *given;
      }
    const double epsilon = sizeof(Real<T>) == 4 ? 1.2e-7 : 2.2e-16;
    expect(most / (n_ * epsilon) < 30, "update", swapped ? 'U' : 'L', n_, most / (n_ * epsilon));
    expect(std::memcmp(updated.data(), before_.data(), sizeof(T) * updated.size()) == 0,
           "elements that are not updated", swapped ? 'U' : 'L', n_, 0);
  }

  /// @param elementwise whether each element is as accurate as the largest allows; LAPACK's ratio
  /// norm1(A - L L^H) / (n norm1(A) eps) is checked always.
  void check(bool elementwise = true) {
    expect(info_ == 0, "info", swapped ? 'U' : 'L', n_, info_);
    double most = 0, largest = 0;
    std::vector<double> error_sums(n_, 0), sums(n_, 0);  // of the columns of both triangles
    std::vector<T> factored = A_;
    std::swap(A_, before_);
    const std::vector<T> given = A_;
    const auto element = [&](const std::vector<T>& a, int i, int j) {
      return convert<Doubled<T>>(a[1 + (swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i)]);
    };
    for (int j = 0; j < columns_; ++j)
      for (int i = j; i < n_; ++i) {
        Doubled<T> sum = element(given, i, j);
        for (int k = 0; k <= j; ++k)
          sum = subtract_product_conj(sum, element(factored, i, k), element(factored, j, k));
        most = std::max(most, size_of(sum));
        if (size_of(sum) != size_of(sum)) most = 1e300;
        const double size = size_of(element(given, i, j));
        largest = std::max(largest, size);
        for (int line : {i, j}) {
          error_sums[line] += size_of(sum), sums[line] += size;
          if (i == j) break;
        }
      }
    const double epsilon = sizeof(Real<T>) == 4 ? 1.2e-7 : 2.2e-16;
    if (elementwise)
      expect(most / (largest * epsilon) < 30, "residual", swapped ? 'U' : 'L', n_,
             most / (largest * epsilon));
    const double ratio = *std::max_element(error_sums.begin(), error_sums.end()) /
                         (n_ * *std::max_element(sums.begin(), sums.end()) * epsilon);
    expect(most < 1e300 && ratio < 30, "LAPACK's ratio", swapped ? 'U' : 'L', n_, ratio);
    if (!elementwise) std::printf("kernel matrix: LAPACK's ratio %.2f\n", ratio);
    int changed = 0;
    std::vector<bool> is_named(factored.size(), false);
    for (int j = 0; j < columns_; ++j)
      for (int i = j; i < n_; ++i)
        is_named[1 + (swapped ? i * size_t(ld_) + j : j * size_t(ld_) + i)] = true;
    for (size_t k = 0; k < factored.size(); ++k)
      if (!is_named[k]) changed += std::memcmp(&factored[k], &given[k], sizeof(T)) != 0;
    expect(changed == 0, "other elements", swapped ? 'U' : 'L', n_, changed);
  }

  static double size_of(double x) { return std::fabs(x); }
  static double size_of(Complex<double> x) { return std::hypot(x.re, x.im); }

 private:
  int n_, columns_, ld_, info_ = -1;
  std::vector<T> A_, before_;
};

template <class T, bool swapped>
void factor_orders() {
  constexpr int kOrder = Config<T>::kOrder;
  for (const int n : orders_to_try(
           {1, 17, kOrder, kOrder + 1, 2 * kOrder, 3 * kOrder - 5, 4 * kOrder + 3, 6 * kOrder},
           {kOrder + 1, 4 * kOrder + 3})) {
    Problem<T, swapped> whole(n, n, n + n % 2);
    if (n % 4 < 2 || sizeof(T) == 16)
      whole.template factor<true>(1 + n % 2, n % 3 == 0);
    else
      whole.template factor<false>(1 + n % 2, n % 3 == 0);
    whole.check();
  }
  const int n = 4 * kOrder + 3;
  Problem<T, swapped> kernel = Problem<T, swapped>::of_kernel(n);
  kernel.template factor<false>(1, false);
  kernel.check(false);
  Problem<T, swapped> panel(5 * kOrder - 7, 2 * kOrder, 5 * kOrder);
  panel.template factor<true>(2, false);
  panel.check();
}

/// A rectangle with separate operands, by two blocks, one after the other.
template <class T, bool swapped, bool aligned>
void update_rectangle(int rows, int columns, int depth, bool backwards) {
  using C = update::Config<T>;
  const auto span = [](int r, int c) { return swapped ? c : r; };
  const auto lines = [](int r, int c) { return swapped ? r : c; };
  constexpr int kShift = aligned ? 0 : 1;
  const auto ld_of = [&](int r, int c) { return (span(r, c) + 3) / 4 * 4 + 4 + kShift; };
  const auto matrix = [&](int r, int c) {
    std::vector<T> elements(size_t(ld_of(r, c)) * lines(r, c) + kShift + 32, from_real<T>(-77));
    for (T& x : elements) x = random_element<T>();
    return elements;
  };
  std::vector<T> A = matrix(rows, depth), B = matrix(columns, depth),
                 result = matrix(rows, columns);
  const std::vector<T> before = result;
  const auto first = [](auto& elements) {
    auto address = reinterpret_cast<uintptr_t>(elements.data());
    return elements.data() + ((address + 15) / 16 * 16 - address) / sizeof(T) + kShift;
  };
  const int ldc = ld_of(rows, columns), lda = ld_of(rows, depth), ldb = ld_of(columns, depth);
  const update::RectangleCall<T> call{first(result), ldc,  first(A), first(B), lda,
                                      ldb,           rows, columns,  depth};
  for (int block = 0; block < 2; ++block) {
    std::memset(shared, 0xFF, sizeof shared);
    auto& barriers = *reinterpret_cast<update::Barriers<T>*>(shared);
    barriers.prepare();
    HostBlock(C::kThreads, backwards).run([&] {
      const int thread = HostBlock::running;
      update::TrailingUpdate<T, swapped, aligned, update::RectangleCall>{
          call, barriers, reinterpret_cast<T*>(shared + kBarrierBytes), thread, block, 2}
          .run(thread / 32);
    });
  }
  std::vector<T> rest = result;
  double most = 0;
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) {
      const size_t at = size_t(call.template at<swapped>(i, j) - result.data());
      Doubled<T> sum = convert<Doubled<T>>(before[at]);
      for (int k = 0; k < depth; ++k)
        sum = subtract_product_conj(
            sum, convert<Doubled<T>>(*call.template of<swapped>(call.left, lda, i, k)),
            convert<Doubled<T>>(*call.template of<swapped>(call.right, ldb, j, k)));
      const double error = Problem<T, swapped>::size_of(
          subtract_product_conj(sum, convert<Doubled<T>>(result[at]), from_real<Doubled<T>>(1)));
      most = std::max(most, error == error ? error : 1e300);
      rest[at] = before[at];
    }
  const double epsilon = sizeof(Real<T>) == 4 ? 1.2e-7 : 2.2e-16;
  expect(most / (depth * epsilon) < 30, "rectangle", swapped ? 'U' : 'L', rows,
         most / (depth * epsilon));
  expect(std::memcmp(rest.data(), before.data(), sizeof(T) * rest.size()) == 0,
         "elements outside a rectangle", swapped ? 'U' : 'L', rows, 0);
}

template <class T, bool swapped>
void update_orders() {
  constexpr int kOrder = update::Config<T>::kOrder;
  update_rectangle<T, swapped, true>(2 * kOrder + 37, kOrder + 48, 64, false);
  update_rectangle<T, swapped, sizeof(T) == 16>(kOrder - 3, 16, 32, true);
  const int n = 2 * kOrder + 37;
  Problem<T, swapped>(n, n, n + 3).template update<true>(64, 64, n - 64, false);
  Problem<T, swapped>(n, n, n + 3).template update<sizeof(T) == 16>(32, 32, kOrder + 16, true);
}

}  // namespace
}  // namespace persistent
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_storage([]<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) {
    persistent::factor_orders<T, kSwapped>();
    persistent::update_orders<T, kSwapped>();
  });
  persistent::expect(persistent::early_arrivals == 0, "arrivals before a wait for the phase before",
                     'L', 0, persistent::early_arrivals);
  std::printf(persistent::failures ? "FAILED: %d\n" : "PASSED\n", persistent::failures);
  return persistent::failures != 0;
}
