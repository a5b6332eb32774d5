// The kernels of cuda/tlr/wide_products.cuh and wide_chain.cuh by contexts of the host, against
// sums in order. Shared memory begins as NaN.
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "elements.hpp"
#include "random_triangle.hpp"
#include "shared_memory.hpp"
#include "tally.hpp"
#include "tlr/wide_chain.cuh"

namespace chol::cuda::tlr {
namespace {

Tally tally;
constexpr int kParts = 2;

template <class D>
constexpr int kStep = sizeof(D) == 16 ? 8 : 16;
/// The kernels' shapes, with fewer warps and columns.
template <class D>
using TaskShape = WideShape<D, 2, 2, 1, Traits<D>::is_complex ? 1 : 2, 2, kStep<D>, 3>;
template <class D>
using ChainShape = WideShape<D, 2, 2, 2, 1, 2, 2 * kStep<D>, 3>;

/// The lists of a sweep, and what kernels are told of it.
template <class D>
struct Wide {
  using T = typename PublicOf<D>::Type;
  static constexpr int kAll = 32;
  WideLists<T> lists;
  std::vector<RightColumn> right;
  std::vector<LeftColumn> left;
  std::vector<T> W, X, Y;
  std::vector<int> starts, arrivals = std::vector<int>(64);
  std::vector<const void*> inverses;
  WideCall call{};
  int columns;

  Wide(const backend::LowerTiles<T>& L, bool adjoint, int n, int how_many)
      : lists(L, adjoint),
        right(static_cast<size_t>(lists.right_columns)),
        left(static_cast<size_t>(lists.left_columns)),
        W(static_cast<size_t>(lists.rows_of_W) * kAll),
        X(static_cast<size_t>(n) * kAll),
        Y(X),
        starts(L.starts.begin(), L.starts.end()),
        inverses(L.inverses.begin(), L.inverses.end()),
        columns(how_many) {
    std::memset(static_cast<void*>(W.data()), 0xFF, sizeof(T) * W.size());
    const WideTileColumns* tile = lists.tiles.data();
    for (int target = 0; target < lists.count; ++target)
      for (int source = 0; source < target; ++source, ++tile) list(*tile, target, source);
    call = {right.data(),
            left.data(),
            lists.identities.data(),
            starts.data(),
            inverses.data(),
            W.data(),
            X.data(),
            Y.data(),
            kAll,
            1,
            kAll,
            arrivals.data(),
            kParts,
            false,
            adjoint,
            L.has_pairs};
  }
  void list(const WideTileColumns& tile, int target, int source) {
    const auto row_of = [&](int c) { return (int64_t{tile.row} + c) * kAll; };
    for (int c = 0; c < tile.count; ++c) {
      if (tile.right)
        right[tile.right_first + c] = {
            static_cast<const T*>(tile.right) + int64_t{c} * lists.rows(source), tile.row + c};
      if (tile.left)
        left[tile.left_first + c] = {
            static_cast<const T*>(tile.left) + int64_t{c} * lists.rows(target),
            (tile.right ? W.data() : X.data()) + row_of(c)};
    }
  }
  void gather(const T* from, int64_t ldx, std::vector<T>& to) const {
    const int64_t n = std::ssize(to) / kAll;
    for (int64_t i = 0; i < n; ++i)
      for (int r = 0; r < kAll; ++r) to[i * kAll + r] = r < columns ? from[i + r * ldx] : T(0);
  }
  template <class Kernel>
  void run(int blocks, Kernel&& kernel) const {
    for (int block = 0; block < blocks; ++block) {
      spoil_shared_memory();
      HostBlock(TaskShape<D>::kThreads, tally.cases % 2 == 0).run([&] { kernel(block); }, block);
    }
  }
  void multiply(int begin, int end, int from, int to) {
    std::vector<RightTask> of_right;
    std::vector<LeftTask> of_left;
    lists.add_right(of_right, begin, end, from, to, TaskShape<D>::kRows);
    lists.add_left(of_left, begin, end, from, to, TaskShape<D>::kRows);
    run(static_cast<int>(of_right.size()), [&](int block) {
      WideProducts<TaskShape<D>>(call, shared).multiply_right(of_right[block], 0, kAll);
    });
    run(static_cast<int>(of_left.size()), [&](int block) {
      WideProducts<TaskShape<D>>(call, shared).add_sums(of_left[block], 0, kAll);
    });
  }
  void solve(int begin, int end) {
    std::vector<ChainLink> links;
    lists.add_chain(links, begin, end);
    std::fill(arrivals.begin(), arrivals.end(), 0);
    spoil_shared_memory();
    static_assert(kParts * ChainShape<D>::kSharedBytes <= kSharedBytes);
    HostBlock(ChainShape<D>::kThreads, tally.cases % 2 == 0, kParts).run([&] {
      void* const memory = shared + HostBlock::current->rank() * ChainShape<D>::kSharedBytes;
      WideChain<ChainShape<D>>(call, memory, kAll, static_cast<int>(blockIdx.x))
          .run(links.data(), static_cast<int>(links.size()));
    });
  }
};

template <class D>
void check(int tile, int count, int shorter, int last, bool adjoint, bool solves, bool has_pairs,
           int columns) {
  using T = typename PublicOf<D>::Type;
  Triangle<D> triangle(tile, count, shorter, last, has_pairs);
  const int n = triangle.n, ldx = n + 3;
  typename Triangle<D>::Block X(ldx, columns, 1);
  Wide<D> wide(triangle.L, adjoint, n, columns);
  const std::vector<T>* result = &wide.Y;
  if (solves) {
    wide.gather(X.elements.data(), ldx, wide.Y);
    wide.call.subtracts = true;
    constexpr int kChain = 3;
    for (int begin = 0; begin < count; begin += kChain) {
      const int end = std::min(begin + kChain, count);
      wide.solve(begin, end);
      wide.multiply(begin, end, end, count);
    }
    result = &wide.X;
  } else {
    wide.gather(X.elements.data(), ldx, wide.X);
    wide.multiply(0, count, 0, count);
  }
  double error = 0;
  for (int r = 0; r < columns; ++r) {
    const std::vector<T> expected =
        triangle.expected(adjoint, solves, X.elements.data() + int64_t{r} * ldx);
    for (int i = 0; i < n; ++i) {
      const double difference = std::abs((*result)[size_t(i) * Wide<D>::kAll + r] - expected[i]);
      error = difference <= error ? error : difference;  // NaN stays
    }
  }
  const double bound = 10 * tile * (count + 1) * double(std::numeric_limits<Real<D>>::epsilon());
  if (!tally.count(error <= bound))
    std::printf(
        "elements of %zu bytes, tiles of %d, %d of them, %d rows in the %dth, adjoint %d, "
        "solves %d, pairs %d, columns %d: error %g\n",
        sizeof(T), tile, count, last, shorter, adjoint, solves, has_pairs, columns, error);
}

template <class D>
void check_orders() {
  for (const bool adjoint : {false, true})
    for (const bool solves : {true, false}) {
      check<D>(20, 4, 3, 7, adjoint, solves, false, 17);
      if (kFindsRaces) continue;
      check<D>(20, 5, 1, 9, adjoint, solves, true, 32);
      check<D>(100, 1, 0, 37, adjoint, solves, false, 3);
      check<D>(100, 2, 1, 99, adjoint, solves, true, 32);
      check<D>(33, 7, 3, 1, adjoint, solves, true, 5);
      check<D>(160, 4, 3, 130, adjoint, solves, false, 20);
    }
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  for_each_type([](auto x) { tlr::check_orders<decltype(x)>(); });
  return tlr::tally.report();
}
