// The kernel of cuda/tlr/sweep.cuh, emulated on the host with a few concurrent blocks, against sums
// in order; and the assignment of rows to groups. Shared memory is initialized with NaN.
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
void check(int tile, int count, int shorter, int last, bool adjoint, int columns) {
  using T = typename PublicOf<D>::Type;
  Triangle<D> triangle(tile, count, shorter, last, false);
  backend::LowerTiles<T>& L = triangle.L;
  const int n = triangle.n, ldx = n + 3;
  typename Triangle<D>::Block X(ldx, columns, 1);
  std::vector<SweepTile> tiles;
  for (const auto& t : L.tiles) tiles.push_back({t.U, t.V, t.rank});
  const std::vector<int> starts(L.starts.begin(), L.starts.end());
  const int groups = std::max(1, std::min(count - 1, kBlocks / kShares));
  const SweepGroups of_rows(sweep_weights(L, adjoint), groups);
  const size_t elements = static_cast<size_t>(n) * kColumns;
  std::vector<T> sums(elements * kShares);
  const SweepCall call{tiles.data(),
                       starts.data(),
                       of_rows.starts.data(),
                       of_rows.rows.data(),
                       X.elements.data(),
                       ldx,
                       sums.data(),
                       n,
                       count,
                       columns,
                       kShares,
                       adjoint};
  using Shape = SweepShape<D, kWarps, kDown, kColumns>;
  static_assert(kBlocks * Shape::kSharedBytes <= kSharedBytes);
  spoil_shared_memory();
  HostBlock(Shape::kThreads, tally.cases % 2 == 0, groups * kShares).run([&] {
    void* const memory = shared + HostBlock::current->rank() * Shape::kSharedBytes;
    Sweep<D, kWarps, kDown, kColumns>(call, memory).run(static_cast<int>(blockIdx.x));
  });
  double error = 0;
  for (int r = 0; r < columns; ++r) {
    const std::vector<T> expected =
        triangle.expected(adjoint, false, X.elements.data() + int64_t{r} * ldx);
    const int first = adjoint ? 0 : starts[1], end = adjoint ? starts[count - 1] : n;
    for (int i = first; i < end; ++i) {
      T value(0);
      for (int s = 0; s < kShares; ++s)
        value += sums[(static_cast<size_t>(s) * kColumns + r) * n + i];
      const double difference = std::abs(value - expected[i]);
      error = difference <= error ? error : difference;  // NaN is kept
    }
  }
  const double bound = 10 * tile * (count + 1) * double(std::numeric_limits<Real<D>>::epsilon());
  if (!tally.count(error <= bound))
    std::printf(
        "elements of %zu bytes, tiles of %d, %d of them, %d rows in the %dth, adjoint %d, "
        "columns %d of %d: error %g\n",
        sizeof(T), tile, count, last, shorter, adjoint, columns, kColumns, error);
}

/// Every row belongs to one group, rows of a group ascend, and the loads of groups are balanced.
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
    if (!tally.count(good)) std::printf("assignment of rows to %d groups\n", groups);
  }
}

template <class D>
void check_orders() {
  for (const bool adjoint : {false, true}) {
    check<D, 1, 1>(20, 5, 4, 7, adjoint, 1);
    check<D, 2, 4>(20, 4, 1, 9, adjoint, 3);
    if (kFindsRaces) continue;
    check<D, 1, 1>(100, 1, 0, 37, adjoint, 1);
    check<D, 1, 4>(100, 2, 1, 100, adjoint, 4);
    check<D, 1, 1>(70, 9, 3, 1, adjoint, 1);
    check<D, 2, 1>(200, 4, 3, 130, adjoint, 1);
    check<D, 2, 4>(256, 3, 0, 3, adjoint, 2);
    check<D, 1, 1>(33, 12, 11, 33, adjoint, 1);
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
