// The kernel of cuda/native/solve by contexts of the host, one block that takes all strips or two
// that wait for each other, and the order of the strips. Shared memory is initialized with NaN and
// copies are executed when waited for, which detects reads that are too early or of uninitialized
// memory.
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "ill_conditioned_system.hpp"
#include "native/solve/diagonal_kernels.cuh"
#include "native/solve/diagonal_workspace.hpp"
#include "native/solve/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;
/// @param from, to of kernel_matrix()
template <class T, bool kSwapped>
void report_ratio(const char* what, System<T, kSwapped>& system, int link, int from, int to) {
  const double ratio = lapack_ratio(system);
  if (solves.count(ratio < 30)) return;
  std::printf(
      "%s, element of %zu bytes, swapped %d: n %d, nrhs %d, rows %d to %d, link %d: ratio %g\n",
      what, sizeof(T), kSwapped, system.n, system.nrhs, from, to, link, ratio);
}

constexpr size_t kBlockShared = 256 << 10;
static_assert(2 * kBlockShared <= kSharedBytes);

/// system.X := the solutions by one block or two.
template <class T, bool kSwapped, int kColumns, int kLink>
void run(System<T, kSwapped>& system, int blocks) {
  const int n = system.n, offset = system.offset;
  const T* const A = system.L.data() + offset;
  int begun = -1;
  // Copied by 16 bytes.
  std::vector<Complex<double>> near_memory(blocks * kLink * solve::Config<T>::kTile * sizeof(T) /
                                           16);
  T* const near = reinterpret_cast<T*>(near_memory.data());
  std::fill_n(near, blocks * kLink * solve::Config<T>::kTile,
              from_real<T>(System<T, kSwapped>::kNaN));
  solve::Call<T> call{{A, system.lda, n, solve::is_aligned(A, system.lda)},
                      system.X.data(),
                      system.ldb,
                      system.nrhs,
                      nullptr,
                      &begun,
                      nullptr,
                      nullptr,
                      nullptr,
                      near};
  const size_t count = size_t(call.order().strips) * solve::Config<T>::kOrder * kColumns;
  std::vector<T> published(4 * count);
  std::memset(published.data(), 0xFF, sizeof(T) * published.size());
  call.forward = published.data();
  call.backward = call.forward + count;
  call.sums = call.backward + count;

  spoil_shared_memory();
  HostBlock(solve::Config<T>::kThreads, n % 2 == 0, blocks).run([&] {
    unsigned char* const memory = shared + HostBlock::current->rank() * kBlockShared;
    solve::Solver<T, kSwapped, kColumns, kLink>(call, memory, int(threadIdx.x)).run();
  });
}
/// A factor of order n in memory that is sometimes misaligned.
template <class T, bool kSwapped>
System<T, kSwapped> system_of(int n, int nrhs) {
  return {n, nrhs, n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : (8 - n % 8) % 8, n % 5 == 0};
}

template <class T, bool kSwapped, int kColumns, int kLink>
void check(int n, int nrhs, int blocks) {
  System<T, kSwapped> system = system_of<T, kSwapped>(n, nrhs);
  const std::vector<T> before = system.L;
  run<T, kSwapped, kColumns, kLink>(system, blocks);
  const double error = system.residual();
  const double bound = 10 * (n + 4) * double(std::numeric_limits<Real<T>>::epsilon());
  const bool same = std::memcmp(before.data(), system.L.data(), sizeof(T) * before.size()) == 0;
  if (solves.count(error <= bound && same)) return;
  std::printf(
      "element of %zu bytes, swapped %d: n %d, lda %d, nrhs %d, link %d, %d blocks: residual %g\n",
      sizeof(T), kSwapped, n, system.lda, nrhs, kLink, blocks, error);
}

/// The factor of a matrix with ill-conditioned diagonal blocks in rows `from` to `to`.
template <class T, bool kSwapped, int kColumns, int kLink>
void check_kernel_matrix(int n, int from, int to, int nrhs, int blocks) {
  System<T, kSwapped> system = system_of<T, kSwapped>(n, nrhs);
  set_factor_of(system, kernel_matrix<Real<T>>(n, from, to));
  run<T, kSwapped, kColumns, kLink>(system, blocks);
  report_ratio("kernel matrix", system, kLink, from, to);
}

/// Between the strips of a link a product that would be larger than either of its operands: with
/// diagonal tiles that are multiples of the identity, all else being ones.
template <class T, bool kSwapped, int kLink>
void check_growth() {
  constexpr int kOrder = solve::Config<T>::kOrder;
  const int n = 5 * kOrder;
  System<T, kSwapped> system = system_of<T, kSwapped>(n, 1);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      const bool is_small = i / kOrder == j / kOrder && j / kOrder % 4 == 2;
      system.at(i, j) = from_real<T>((i - j) % kOrder ? 0 : is_small ? Real<T>(1e-4) : 1);
    }
  std::vector<Wide> x(n);
  for (Wide& value : x) value = widen(random_element<T>());
  x = product(square_of_factor(system), x);
  for (int i = 0; i < n; ++i) system.B[i] = conj_if(kSwapped, narrow<T>(x[i]));
  system.X = system.B;
  run<T, kSwapped, 1, kLink>(system, 2);
  report_ratio("growth in a link", system, kLink, 0, 0);
}

template <class T, bool kSwapped>
void solve_orders() {
  constexpr int kOrder = solve::Config<T>::kOrder;
  const std::vector<int> orders = {
      1, 15, kOrder, kOrder + 1, 3 * kOrder, 5 * kOrder - 3, 8 * kOrder + 7};
  for (const int n : orders_to_try(orders, {3 * kOrder + 1}))
    for (const int blocks : {1, 2}) {
      check<T, kSwapped, 1, 1>(n, 1, blocks);
      check<T, kSwapped, 4, 1>(n, 3, blocks);
      if (n < 4 * kOrder) check<T, kSwapped, 16, 1>(n, 16, blocks);
      check<T, kSwapped, 1, 2>(n, 1, blocks);
    }
}

/// Runs body(its threads' number) by a block.
template <class T, class Body>
void run_block(const Body& body) {
  spoil_shared_memory();
  HostBlock(solve::Config<T>::kThreads, false).run([&] { body(int(threadIdx.x)); });
}

/// One diagonal block of two tiles, inverted as DiagonalBlocks does: its test, and solutions by
/// substitution where the inverse does not pass.
template <class T, bool kSwapped>
void check_diagonal_block(bool ill_conditioned) {
  constexpr int kOrder = solve::Config<T>::kOrder, order = 2 * kOrder, n = order - 3;
  System<T, kSwapped> system = system_of<T, kSwapped>(n, 18);
  if (ill_conditioned) set_factor_of(system, kernel_matrix<Real<T>>(n, 0, n));
  const T* const A = system.L.data() + system.offset;
  const solve::Factor<T> factor{A, system.lda, n, solve::is_aligned(A, system.lda)};
  std::vector<T> X(order * (order + 1), from_real<T>(System<T, kSwapped>::kNaN));
  std::vector<Real<T>> sums(order);
  int substitutes = -1;
  const solve::Inverses<T> inverses{X.data(), order, sums.data(), &substitutes};
  const auto at = [&](int i, int j) -> T& { return X[kSwapped ? i * order + j : j * order + i]; };
  using Strip = solve::DiagonalStrip<T, kSwapped>;
  for (int strip = 0; strip < 2; ++strip) {
    run_block<T>([&](int thread) {
      Strip{factor, inverses, strip, -1, thread}.invert(reinterpret_cast<T*>(shared));
    });
    for (int part = 0; part < Strip::kParts; ++part)
      run_block<T>([&](int thread) {
        Strip{factor, inverses, strip, part, thread}.prepare(reinterpret_cast<Real<T>*>(shared));
      });
  }
  bool right = substitutes == 0;
  for (int j = 0; j < kOrder; ++j) {
    for (int i = 0; i < kOrder; ++i) right = right && magnitude(at(i, kOrder + j)) == 0;
    std::vector<T> column(n, T{});
    for (int i = kOrder; i < n; ++i)
      for (int k = j; k < kOrder; ++k)
        column[i] = subtract_product(column[i], system.at(i, k), at(k, j));
    for (int i = kOrder; i < n; ++i) {
      at(i, j) = T{};
      for (int k = kOrder; k <= i; ++k)
        at(i, j) = subtract_product(at(i, j), negative(at(i, k)), column[k]);
    }
  }
  for (int strip = 0; strip < 2; ++strip)
    for (int part = 0; part < Strip::kParts; ++part)
      run_block<T>([&](int thread) {
        Strip{factor, inverses, strip, part, thread}.test(reinterpret_cast<Real<T>*>(shared));
      });
  if (!solves.count(right && substitutes == ill_conditioned))
    std::printf("test of an inverse, element of %zu bytes, swapped %d: %d\n", sizeof(T), kSwapped,
                substitutes);
  if (!ill_conditioned) return;
  const solve::DiagonalCall<T> call{factor,      system.X.data(), system.ldb,
                                    system.nrhs, nullptr,         &substitutes};
  for (int group = 0; group * solve::DiagonalSolve<T, kSwapped, true>::kColumns < system.nrhs;
       ++group)
    run_block<T>([&](int thread) {
      solve::DiagonalSolve<T, kSwapped, true>(call, group, thread)
          .substitute(reinterpret_cast<T*>(shared));
      __syncthreads();
      solve::DiagonalSolve<T, kSwapped, false>(call, group, thread)
          .substitute(reinterpret_cast<T*>(shared));
    });
  report_ratio("diagonal block", system, 0, 0, n);
}

/// The products of each join fit the workspace, whatever part of the rows is inverted at a time.
template <class T>
void check_join_workspace() {
  constexpr int64_t kOrder = solve::Config<T>::kOrder;
  std::vector<char> memory(int64_t(64) << 20);
  for (const int64_t order : {kOrder, 4 * kOrder, 8 * kOrder})
    for (int64_t n = 1; n < 3 * order; n += 5) {
      Arena arena(memory.data(), memory.size());
      const auto work = solve::DiagonalWorkspace<T>::carve(arena, order, n, int64_t(8) << 20);
      T* const end = arena.take<T>(1);
      int64_t most = 0;
      for (int64_t rows = std::min(n, work.rows); rows > 0; rows -= kOrder / 2)
        solve::for_each_join(rows, kOrder, order,
                             [&](int64_t, int64_t w, int64_t height, int64_t pairs) {
                               most = std::max(most, (pairs - 1) * w * w + (w - 1) * w + height);
                             });
      if (!solves.count(end && end - work.product >= most))
        std::printf("workspace of joins: n %d, order %d\n", int(n), int(order));
    }
}

/// The product is copied, and nothing else is written.
template <class T>
void check_copy() {
  const int n = 37, nrhs = 18, ldb = 40;
  std::vector<T> product(n * nrhs), B(ldb * nrhs, from_real<T>(-77)), wanted = B;
  for (T& x : product) x = random_element<T>();
  for (int q = 0; q < nrhs; ++q) std::copy_n(&product[q * n], n, &wanted[q * ldb]);
  const int substitutes = 0;
  const solve::DiagonalCall<T> call{{nullptr, n, n, false}, B.data(),    ldb, nrhs,
                                    product.data(),         &substitutes};
  for (int group = 0; group * solve::DiagonalSolve<T, false, true>::kColumns < nrhs; ++group)
    for (int part = 0; part < 3; ++part)
      run_block<T>([&](int thread) {
        solve::DiagonalSolve<T, false, true>(call, group, thread).copy(part, 3);
      });
  if (!solves.count(std::memcmp(B.data(), wanted.data(), sizeof(T) * B.size()) == 0))
    std::printf("copy of products, element of %zu bytes\n", sizeof(T));
}

template <class T, bool kSwapped>
void solve_kernel_matrices() {
  constexpr int kOrder = solve::Config<T>::kOrder, n = 5 * kOrder - 3;
  check_kernel_matrix<T, kSwapped, 1, 2>(n, 0, n, 1, 2);
  if (kFindsRaces) return;
  // All tiles, some of them, and one.
  for (const int from : {0, kOrder + 5, 3 * kOrder}) {
    const int to = from == 0 ? n : from + 2 * kOrder - 8, blocks = 1 + from % 2;
    check_kernel_matrix<T, kSwapped, 1, 1>(n, from, to, 1, blocks);
    check_kernel_matrix<T, kSwapped, 4, 1>(n, from, to, 3, blocks);
    check_kernel_matrix<T, kSwapped, 1, 2>(n, from, to, 1, blocks);
  }
  check_kernel_matrix<T, kSwapped, 16, 1>(n, 0, n, 16, 2);
  check_diagonal_block<T, kSwapped>(false);
  check_diagonal_block<T, kSwapped>(true);
  check_copy<T>();
  check_growth<T, kSwapped, 1>();
  check_growth<T, kSwapped, 2>();
}

/// Every strip of both sweeps occurs once, and after all that it depends on.
void order_of_strips() {
  for (const int strips : {1, 2, 3, 17, 128}) {
    const solve::Order order{strips};
    std::vector<int> place[2] = {std::vector<int>(strips, -1), std::vector<int>(strips, -1)};
    bool good = true;
    for (int position = 0; position < order.count(); ++position) {
      const solve::Strip strip = order.at(position);
      good = good && place[strip.forward][strip.index] < 0;
      place[strip.forward][strip.index] = position;
      for (int k = 0; k < order.before(strip); ++k) {
        const int other = order.in_sweep(strip.forward, k);
        good = good && other != strip.index && place[strip.forward][other] >= 0;
      }
      // The first sweep's solution is the second one's right-hand side.
      if (!strip.forward) good = good && place[true][strip.index] >= 0;
    }
    if (!solves.count(good)) std::printf("order of %d strips\n", strips);
  }
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  order_of_strips();
  for_each_storage([]<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) {
    solve_orders<T, kSwapped>();
    solve_kernel_matrices<T, kSwapped>();
    if constexpr (!kSwapped) check_join_workspace<T>();
  });
  return solves.report();
}
