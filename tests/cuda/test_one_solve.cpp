// The kernel of cuda/native/solve by contexts of the host, one block that takes all strips or two
// that wait for each other, and the order of the strips. Shared memory is initialized with NaN and
// copies are executed when waited for, which detects reads that are too early or of uninitialized
// memory.
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "native/solve/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;
constexpr size_t kBlockShared = 256 << 10;
static_assert(2 * kBlockShared <= kSharedBytes);

template <class T, bool kSwapped, int kColumns, int kLink>
void check(int n, int nrhs, int blocks) {
  const int extra = n % 3 == 0 ? 0 : n % 3 == 1 ? 1 : (8 - n % 8) % 8, offset = n % 5 == 0;
  System<T, kSwapped> system(n, nrhs, extra, offset);
  const std::vector<T> before = system.L;
  const T* const A = system.L.data() + offset;
  const bool aligned = (reinterpret_cast<uintptr_t>(A) | system.lda * sizeof(T)) % 16 == 0;
  int begun = -1;
  // Copied by 16 bytes.
  std::vector<Complex<double>> near_memory(blocks * kLink * solve::Config<T>::kTile * sizeof(T) /
                                           16);
  T* const near = reinterpret_cast<T*>(near_memory.data());
  std::fill_n(near, blocks * kLink * solve::Config<T>::kTile,
              from_real<T>(System<T, kSwapped>::kNaN));
  solve::Call<T> call{{A, system.lda, n, aligned},
                      system.X.data(),
                      system.ldb,
                      nrhs,
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
  const double error = system.residual();
  const double bound = 10 * (n + 4) * double(std::numeric_limits<Real<T>>::epsilon());
  const bool same = std::memcmp(before.data(), system.L.data(), sizeof(T) * before.size()) == 0;
  if (solves.count(error <= bound && same)) return;
  std::printf(
      "element of %zu bytes, swapped %d: n %d, lda %d, nrhs %d, link %d, %d blocks: residual %g\n",
      sizeof(T), kSwapped, n, system.lda, nrhs, kLink, blocks, error);
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
  for_each_storage(
      []<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) { solve_orders<T, kSwapped>(); });
  return solves.report();
}
