// The kernel of cuda/tlr/sweep.cuh by contexts of the host, a few blocks that wait for each other,
// against sums in order; and which groups have which rows. Shared memory begins as NaN.
#include <complex>
#include <limits>
#include <vector>

#include "elements.hpp"
#include "random_triangle.hpp"
#include "shared_memory.hpp"
#include "tally.hpp"
#include "tlr/sweep.cuh"

namespace chol::cuda::tlr {
namespace {

Tally tally;
constexpr int kWarps = 4, kBlocks = 7, kShares = 2;

template <class D, int kDown, int kColumns>
void check(int tile, int count, int shorter, int last, bool adjoint, bool solves, bool has_pairs,
           int columns) {
  using T = typename PublicOf<D>::Type;
  Triangle<D> triangle(tile, count, shorter, last, has_pairs);
  backend::LowerTiles<T>& L = triangle.L;
  const int n = triangle.n, ldx = n + 3;
  typename Triangle<D>::Block X(ldx, columns, 1);
  std::vector<SweepTile> tiles;
  for (const auto& t : L.tiles) tiles.push_back({t.U, t.V, t.rank});
  const std::vector<int> starts(L.starts.begin(), L.starts.end());
  const std::vector<const void*> inverses(L.inverses.begin(), L.inverses.end());
  const int chain = solves ? 3 : 0,
            groups = std::max(1, std::min(count - 1, (kBlocks - chain) / 2));
  const SweepGroups of_rows(sweep_weights(L, adjoint), groups);
  const size_t elements = static_cast<size_t>(n) * kColumns;
  std::vector<T> running(elements * kShares), published(running), solution(elements);
  std::memset(static_cast<void*>(published.data()), 0xFF, sizeof(T) * published.size());
  std::memset(static_cast<void*>(solution.data()), 0xFF, sizeof(T) * solution.size());
  const SweepCall call{tiles.data(),
                       starts.data(),
                       inverses.data(),
                       of_rows.starts.data(),
                       of_rows.rows.data(),
                       X.elements.data(),
                       ldx,
                       solution.data(),
                       running.data(),
                       published.data(),
                       n,
                       count,
                       columns,
                       chain,
                       kShares,
                       adjoint,
                       solves,
                       has_pairs};
  using Shape = SweepShape<D, kWarps, kDown, kColumns>;
  static_assert(kBlocks * Shape::kSharedBytes <= kSharedBytes);
  spoil_shared_memory();
  HostBlock(Shape::kThreads, tally.cases % 2 == 0, chain + groups * kShares).run([&] {
    void* const memory = shared + HostBlock::current->rank() * Shape::kSharedBytes;
    Sweep<D, kWarps, kDown, kColumns>(call, memory).run(static_cast<int>(blockIdx.x));
  });
  double error = 0;
  for (int r = 0; r < columns; ++r) {
    const std::vector<T> expected =
        triangle.expected(adjoint, solves, X.elements.data() + int64_t{r} * ldx);
    const int first = adjoint ? 0 : starts[1], end = adjoint ? starts[count - 1] : n;
    for (int i = 0; i < n; ++i) {
      T value = solution[static_cast<size_t>(r) * n + i];
      if (!solves) {
        if (i < first || i >= end) continue;
        value = T(0);
        for (int s = 0; s < kShares; ++s)
          value += published[(static_cast<size_t>(s) * kColumns + r) * n + i];
      }
      const double difference = std::abs(value - expected[i]);
      error = difference <= error ? error : difference;  // NaN stays
    }
  }
  const double bound = 10 * tile * (count + 1) * double(std::numeric_limits<Real<D>>::epsilon());
  if (!tally.count(error <= bound))
    std::printf(
        "elements of %zu bytes, tiles of %d, %d of them, %d rows in the %dth, adjoint %d, "
        "solves %d, pairs %d, columns %d of %d: error %g\n",
        sizeof(T), tile, count, last, shorter, adjoint, solves, has_pairs, columns, kColumns,
        error);
}

/// Every row in one group, in ascending order, and no group with much more than another.
void groups_of_rows() {
  for (const int groups : {1, 3, 29, 33}) {
    std::vector<int64_t> weights(256);
    int64_t all = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      all += weights[i] = static_cast<int64_t>(44 * i + i * i % 7);
    const SweepGroups found(weights, groups);
    std::vector<int> seen(weights.size());
    bool good = std::ssize(found.starts) == groups + 1;
    for (int g = 0; good && g < groups; ++g) {
      int64_t load = 0;
      for (int r = found.starts[g]; r < found.starts[g + 1]; ++r) {
        const int row = found.rows[r];
        ++seen[row];
        load += weights[row];
        good = good && (r == found.starts[g] || row > found.rows[r - 1]);
      }
      good = good && double(load) * groups <= 1.05 * double(all);
    }
    for (const int times : seen) good = good && times == 1;
    if (!tally.count(good)) std::printf("rows of %d groups\n", groups);
  }
}

template <class D>
void check_orders() {
  for (const bool adjoint : {false, true})
    for (const bool solves : {true, false}) {
      check<D, 1, 1>(20, 5, 4, 7, adjoint, solves, false, 1);
      check<D, 2, 4>(20, 4, 1, 9, adjoint, solves, true, 3);
      if (kFindsRaces) continue;
      check<D, 1, 1>(100, 1, 0, 37, adjoint, solves, false, 1);
      check<D, 1, 4>(100, 2, 1, 100, adjoint, solves, true, 4);
      check<D, 1, 1>(70, 9, 3, 1, adjoint, solves, true, 1);
      check<D, 2, 1>(200, 4, 3, 130, adjoint, solves, false, 1);
      check<D, 2, 4>(256, 3, 0, 3, adjoint, solves, false, 2);
      check<D, 1, 1>(33, 12, 11, 33, adjoint, solves, false, 1);
    }
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  tlr::groups_of_rows();
  for_each_type([](auto x) { tlr::check_orders<decltype(x)>(); });
  return tlr::tally.report();
}
