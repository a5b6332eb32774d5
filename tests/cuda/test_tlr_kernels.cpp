// The kernels of cuda/tlr, emulated on the host: samples of a block column from tables of tiles,
// sums of few columns, and the factorization of a core.
#include <complex>
#include <limits>
#include <vector>

#undef blockIdx
namespace {
struct {
  unsigned x = 0, y = 0, z = 0;
} grid_place;
}  // namespace
#define blockIdx grid_place

#include "elements.hpp"
#include "host/conjugate.hpp"
#include "tally.hpp"
#include "tlr/basis.cuh"
#include "tlr/blocked_core.cuh"
#include "tlr/column.cuh"
#include "tlr/column_plan.hpp"
#include "tlr/core.cuh"

namespace chol::cuda::tlr {
namespace {

Tally tally;

template <class D>
struct Dense {
  using T = typename PublicOf<D>::Type;
  int rows, columns;
  std::vector<T> elements;
  Dense(int m, int n) : rows(m), columns(n), elements(static_cast<size_t>(m) * n + 1) {}
  static Dense random(int m, int n) {
    Dense A(m, n);
    for (T& x : A.elements) x = random_public_element<D>();
    return A;
  }
  T at(int i, int j) const { return elements[i + static_cast<size_t>(j) * rows]; }
  T& at(int i, int j) { return elements[i + static_cast<size_t>(j) * rows]; }
  const T* data() const { return elements.data(); }
  T* data() { return elements.data(); }
};

using host::conjugate;

template <class D>
Dense<D> product(bool adjoint_a, const Dense<D>& A, bool adjoint_b, const Dense<D>& B) {
  const int m = adjoint_a ? A.columns : A.rows, n = adjoint_b ? B.rows : B.columns;
  const int inner = adjoint_a ? A.rows : A.columns;
  Dense<D> C(m, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      for (int k = 0; k < inner; ++k)
        C.at(i, j) += (adjoint_a ? conjugate(A.at(k, i)) : A.at(i, k)) *
                      (adjoint_b ? conjugate(B.at(j, k)) : B.at(k, j));
  return C;
}
template <class D>
void subtract(Dense<D>& C, const Dense<D>& A) {
  for (size_t e = 0; e < C.elements.size() - 1; ++e) C.elements[e] -= A.elements[e];
}
/// Compares C with the expected result of sums with that many terms of order 1.
template <class D>
bool is_near(const Dense<D>& C, const Dense<D>& expected, double terms) {
  const double bound = 30 * terms * double(std::numeric_limits<Real<D>>::epsilon());
  for (size_t e = 0; e + 1 < C.elements.size(); ++e)
    if (!(std::abs(C.elements[e] - expected.elements[e]) <= bound)) return false;
  return true;
}

template <class D>
struct LowRankTile {
  Dense<D> U, V;
  LowRankTile(int rows, int columns, int rank)
      : U(Dense<D>::random(rows, rank)), V(Dense<D>::random(columns, rank)) {}
  backend::LowRank<typename Dense<D>::T> view() const { return {U.data(), V.data(), U.columns}; }
};

template <class Kernel>
void run_grid(unsigned x, unsigned y, unsigned z, int threads, Kernel&& kernel) {
  HostBlock block(threads, tally.cases % 2 == 0);
  for (grid_place.z = 0; grid_place.z < z; ++grid_place.z)
    for (grid_place.y = 0; grid_place.y < y; ++grid_place.y)
      for (grid_place.x = 0; grid_place.x < x; ++grid_place.x) block.run(kernel);
}

template <class D>
inline constexpr int kColumnsOf = sizeof(D) < 16 ? 64 : 32;

template <class D>
void run_tall(const std::vector<TallItem>& items) {
  constexpr int kColumns = 32;
  const std::vector<TilePart> parts = parts_of(items, ProductShape<D>::kRows, kColumns);
  static TallTiles<D, kColumns> tiles;
  run_grid(static_cast<unsigned>(parts.size()), 1, 1, kProductThreads, [&] {
    const TilePart part = parts[grid_place.x];
    compute_tall_tile(tiles, items[part.item], part.row * ProductShape<D>::kRows, part.first,
                      part.end);
  });
}

template <class D>
void run_sums(const ColumnItem& item, const std::vector<TilePart>& parts) {
  static WideTiles<D, kColumnsOf<D>> wide;
  run_grid(static_cast<unsigned>(parts.size()), 1, 1, kProductThreads, [&] {
    const TilePart part = parts[grid_place.x];
    compute_wide_tile(wide, sum_of_row<D>(item, item.rows[part.item / 2], part.item % 2 != 0),
                      part.row * ProductShape<D>::kRows, part.first, part.end);
  });
}
/// All X_i by one product, with tiles of twice as many rows.
template <class D>
void run_joint_sums(const ColumnItem& item) {
  constexpr int kRows = 2 * ProductShape<D>::kRows, kColumns = kColumnsOf<D>;
  static WideTiles<D, kColumns, kRows> tiles;
  const WideItem sum = sum_of_rows<D>(item);
  run_grid(static_cast<unsigned>((sum.m + kRows - 1) / kRows),
           static_cast<unsigned>((sum.n + kColumns - 1) / kColumns), 1, 2 * kRows, [&] {
             const int n0 = static_cast<int>(grid_place.y) * kColumns;
             compute_wide_tile(tiles, sum, static_cast<int>(grid_place.x) * kRows, n0,
                               std::min(n0 + kColumns, sum.n));
           });
}

/// The terms of columns [from, to) of the samples of a block column.
/// @param is_joint whether the X_i are computed by one product if possible
template <class D, class T>
void run_samples(backend::ColumnSamples<T> column, const FinishedColumns& finished,
                 const std::vector<std::vector<LowRankTile<D>>>& L, int from, int to,
                 bool is_joint) {
  column.from = from;
  column.to = to;
  for (int j = from; j < to; ++j) column.right.push_back(L[j][column.k - j - 1].view());
  ColumnPlan<T> plan(column, finished, is_joint ? 1 : int64_t{1} << 40);
  std::vector<T> scratch(static_cast<size_t>(plan.carve(nullptr)) + 16,
                         T(std::numeric_limits<float>::quiet_NaN()));
  T* aligned = scratch.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 16 != 0) ++aligned;
  plan.carve(aligned);
  run_tall<D>(plan.items);
  const auto height = static_cast<unsigned>(plan.rows.size());
  const int order = static_cast<int>(column.order);
  ColumnItem item = plan.item();
  item.rows = plan.rows.data();
  item.G = plan.G.data();
  item.columns = plan.columns.data();
  const auto parts = [&](bool is_X, std::vector<TilePart> list = {}) {
    add_parts_of_sums(plan.rows, is_X, order, ProductShape<D>::kRows, kColumnsOf<D>, list);
    return list;
  };
  if (plan.is_joint) run_sums<D>(item, parts(true));
  static MiddleTiles<D, kColumnsOf<D>> middle;
  constexpr int kParts = 3;
  run_grid(static_cast<unsigned>((to - from + kMiddleItems - 1) / kMiddleItems), height, 2 * kParts,
           kProductThreads, [&] { compute_middle_products(middle, item, kParts); });
  if (plan.is_joint) run_joint_sums<D>(item);
  run_sums<D>(item, plan.is_joint ? parts(false) : parts(true, parts(false)));
}

/// A block column with `orders.size()` rows below it and `count` finished columns before it. Every
/// fifth tile of these is dense.
template <class D>
void try_column(int tile, const std::vector<int>& orders, int count, int samples, int extra,
                bool is_joint = false) {
  using T = typename Dense<D>::T;
  const int left_samples = samples + 8, height = static_cast<int>(orders.size());
  const int tiles = count + 1 + height, psi_columns = left_samples + extra;
  const auto order_of = [&](int i) { return i > count ? orders[i - count - 1] : tile; };
  const Dense<D> omega = Dense<D>::random(tile, samples + extra);
  const Dense<D> psi = Dense<D>::random(tile, psi_columns);
  Dense<D> identity(tile, tile);
  for (int i = 0; i < tile; ++i) identity.at(i, i) = Real<D>(1);
  constexpr int kMostOfRow = 512;
  const int ranks[] = {5, 0, 17, 66, 1};
  std::vector<std::vector<LowRankTile<D>>> L(static_cast<size_t>(count));  // by block column
  std::vector<int> starts(static_cast<size_t>(2 * tiles * (tiles + 1)));
  int* const row_starts = starts.data() + tiles * (tiles + 1);
  std::vector<const void*> of_rows(static_cast<size_t>(tiles * kMostOfRow)), of_samples;
  std::vector<std::vector<const void*>> vectors;
  std::vector<std::vector<T>> F;
  FinishedColumns finished(tiles);
  finished.on_device = {starts.data(),
                        row_starts,
                        nullptr,
                        of_rows.data(),
                        kMostOfRow,
                        tiles,
                        (psi_columns + 3) / 4 * 4};
  for (int j = 0; j < count; ++j) {
    backend::FinishedColumn<T> column{j, tiles, tile, {}, psi.data(), psi_columns, tile};
    for (int i = j + 1; i < tiles; ++i) {
      const bool dense = (i + 2 * j) % 5 == 4 && i + 2 * j > 4;
      L[j].emplace_back(order_of(i), tile, dense ? tile : ranks[(i + 2 * j) % 5]);
      auto view = L[j].back().view();
      if (dense) {
        view = {view.U, nullptr, -1};
        L[j].back().V = identity;
      }
      column.rows.push_back({i, order_of(i), view});
    }
    const std::vector<FinishedTile> list = finished.enter(column, identity.data());
    const int all = list.back().start + list.back().rank;
    vectors.emplace_back(static_cast<size_t>(all + 1));
    finished.V[j] = vectors.back().data();
    F.emplace_back(static_cast<size_t>(all + 1) * finished.on_device.ld);
    run_grid(static_cast<unsigned>(list.size()), 1, 1, 32, [&] {
      enter_tiles_kernel<D>(list.data(), static_cast<int>(list.size()), j, tile, tiles, kMostOfRow,
                            starts.data(), row_starts, vectors.back().data(), of_rows.data());
    });
    std::vector<TallItem> items;
    for (const FinishedTile& t : list)
      if (t.rank > 0)
        items.push_back({nullptr, t.U, psi.data(),
                         F.back().data() + t.start * finished.on_device.ld, t.rank, psi_columns,
                         t.rows, t.rows, tile, finished.on_device.ld, 1});
    run_tall<D>(items);
  }
  for (auto& f : F) of_samples.push_back(f.data());
  finished.on_device.F = of_samples.data();
  std::vector<LowRankTile<D>> own;
  std::vector<Dense<D>> Y, X;
  backend::ColumnSamples<T> column{count, 0, 0, tile, tile, {}, {}, omega.data(), psi.data(), tile};
  for (int r = 0; r < height; ++r) {
    own.emplace_back(orders[r], tile, ranks[r % 5]);
    Y.emplace_back(orders[r], samples);
    X.emplace_back(tile, left_samples);
  }
  for (int r = 0; r < height; ++r)
    column.rows.push_back(
        {count + 1 + r, own[r].view(), orders[r], samples, left_samples, Y[r].data(), X[r].data()});
  // The sums of all columns except the last one, then those of the last one.
  const int split = count > 1 ? count - 1 : count;
  run_samples<D>(column, finished, L, 0, split, is_joint);
  if (split < count) run_samples<D>(column, finished, L, split, count, is_joint);

  const auto leading = [](const Dense<D>& A, int rows, int columns) {
    Dense<D> part(rows, columns);
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) part.at(i, j) = A.at(i, j);
    return part;
  };
  for (int r = 0; r < height; ++r) {
    Dense<D> M = product(false, own[r].U, true, own[r].V);
    for (int j = 0; j < count; ++j) {
      const LowRankTile<D>&left = L[j][count + r - j], &right = L[j][count - j - 1];
      const Dense<D> core = product(true, left.V, false, right.V);
      subtract(M, product(false, product(false, left.U, false, core), true, right.U));
    }
    const double terms = double(tile) * tile * (count + 1);
    const bool is_right =
        is_near(Y[r], product(false, M, false, leading(omega, tile, samples)), terms) &&
        is_near(X[r], product(true, M, false, leading(psi, orders[r], left_samples)), terms);
    if (!tally.count(is_right))
      std::printf(
          "block column of tiles of %d, %d finished columns, %d samples: row %d of order %d\n",
          tile, count, samples, r, orders[r]);
  }
}

/// C = A x or C += A^H x - B y, with n columns.
template <class D>
void try_vectors(int m, int k, int n, bool overwrite) {
  const Dense<D> A = Dense<D>::random(m, k), B = Dense<D>::random(k, m);
  const Dense<D> x = Dense<D>::random(k, n);
  Dense<D> C = Dense<D>::random(m, n), expected = C;
  if (overwrite) expected = Dense<D>(m, n);
  const Dense<D> plus = product(false, A, false, x), minus = product(true, B, false, x);
  for (size_t e = 0; e + 1 < expected.elements.size(); ++e)
    expected.elements[e] += plus.elements[e] - minus.elements[e];
  const Term terms[] = {{A.data(), x.data(), k, m, k, 0},
                        {B.data(), x.data(), k, k, k, kAdjointA | kSubtract}};
  const Sum sum{C.data(), m, n, m, 0, 2, overwrite};
  const int parts = (m + 31) / 32;
  std::vector<Part> list;
  for (int p = 0; p < parts; ++p) list.push_back({0, static_cast<uint16_t>(p), 0});
  run_grid(static_cast<unsigned>(parts), 1, 1, kVectorThreads,
           [&] { vectors_kernel<D>(terms, &sum, list.data()); });
  if (!tally.count(is_near(C, expected, k)))
    std::printf("vectors: m %d, k %d, n %d, overwrite %d\n", m, k, n, overwrite);
}

enum class Place { memory, block, cluster };

/// Calls body(place of the block) in the blocks of a cluster, each with that much shared memory.
template <int kBlocks, class Body>
void run_cluster(size_t bytes, Body&& body) {
  cooperative_groups::Cluster::stride = bytes;
  HostBlock cluster(kBlockedThreads, tally.cases % 2 == 0, kBlocks);
  cluster.run([&] { body(cooperative_groups::this_cluster().block_rank()); });
}

/// Factors one core, one pivot at a time, or by panels in a block or a cluster.
template <class D>
CoreResult run_core(const CoreItem& item, double tolerance, Place place) {
  static char memory[1 << 18];
  CoreResult result{};
  const auto keep = [&](const CoreResult& found) {
    if (threadIdx.x == 0) result = found;
  };
  if (place == Place::memory) {
    run_grid(1, 1, 1, kCoreThreads,
             [&] { keep(CoreFactorization<D, 1>(item, memory).run(tolerance, true)); });
  } else if (place == Place::block) {
    run_grid(1, 1, 1, kBlockedThreads,
             [&] { keep(BlockedCore<D, 1>(item, tolerance, memory).run()); });
  } else {
    constexpr int kBlocks = 2;
    const size_t bytes = BlockedCoreMemory<D>::bytes(item.rows, item.columns, 0, kBlocks);
    run_cluster<kBlocks>(bytes, [&](unsigned rank) {
      const CoreResult found =
          BlockedCore<D, kBlocks>(item, tolerance, memory + rank * bytes).run();
      if (rank == 0) keep(found);
    });
  }
  return result;
}

/// The core of a matrix of low rank plus a perturbation of size `rest`.
template <class D>
void try_core(int rows, int columns, int rank, double rest, bool has_nan, Place place) {
  using R = Real<D>;
  Dense<D> S = product(false, Dense<D>::random(rows, rank), true, Dense<D>::random(columns, rank));
  const Dense<D> noise = Dense<D>::random(rows, columns);
  for (size_t e = 0; e + 1 < S.elements.size(); ++e) S.elements[e] += noise.elements[e] * R(rest);
  if (has_nan) S.at(rows / 2, columns / 2) = std::numeric_limits<R>::quiet_NaN();
  Dense<D> work(rows + columns, columns), factor(columns, columns), T(columns, columns);
  Dense<D> Q(rows, columns);
  const CoreItem item{S.data(), work.data(), factor.data(), T.data(), Q.data(), rows,
                      columns,  0,           true};
  const CoreResult result = run_core<D>(item, 10 * rest, place);
  bool is_right = result.is_sufficient == (has_nan || rank + kCoreTests > columns ? 0 : 1);
  if (result.is_sufficient) {
    // Panels may select pivots that are not quite the longest, after which the residual may be ten
    // times as large if the last pivots are short. The rank is then larger by one: one case of
    // seven of rank 45 in 56.
    is_right =
        is_right && (result.rank == rank || (place != Place::memory && result.rank == rank + 1));
    Dense<D> basis(rows, rank), inverse(columns, rank), identity(rank, rank);
    std::copy_n(Q.data(), rows * rank, basis.data());
    std::copy_n(T.data(), columns * rank, inverse.data());
    for (int i = 0; i < rank; ++i) identity.at(i, i) = R(1);
    is_right = is_right && is_near(product(true, basis, false, basis), identity, 100) &&
               is_near(product(false, S, false, inverse), basis, 1e4);
  }
  if (!tally.count(is_right))
    std::printf("core %d by %d of rank %d, rest %g, NaN %d, place %d: rank %d, sufficient %d\n",
                rows, columns, rank, rest, has_nan, static_cast<int>(place), result.rank,
                result.is_sufficient);
}

/// A core with singular values that decrease by `ratio`: its basis is compared with one computed
/// one pivot at a time.
template <class D>
void try_decay(int rows, int columns, double ratio, double tolerance, Place place) {
  using R = Real<D>;
  Dense<D> left = Dense<D>::random(rows, columns);
  for (int j = 0; j < columns; ++j)
    for (int i = 0; i < rows; ++i) left.at(i, j) *= R(std::pow(ratio, j));
  Dense<D> S = product(false, left, true, Dense<D>::random(columns, columns));
  Dense<D> work(rows + columns, columns), factor(columns, columns), T(columns, columns);
  Dense<D> Q(rows, columns);
  const CoreItem item{S.data(), work.data(), factor.data(), T.data(), Q.data(), rows,
                      columns,  0,           true};
  const int expected = run_core<D>(item, tolerance, Place::memory).rank;
  const CoreResult result = run_core<D>(item, tolerance, place);
  const int rank = result.rank;
  Dense<D> basis(rows, rank), identity(rank, rank), inverse(columns, rank);
  std::copy_n(Q.data(), rows * rank, basis.data());
  std::copy_n(T.data(), columns * rank, inverse.data());
  for (int i = 0; i < rank; ++i) identity.at(i, i) = R(1);
  // S T is the basis, except for rounding errors divided by the last pivots.
  const double loss = double(columns) * columns / tolerance;
  Dense<D> rest = S;
  subtract(rest, product(false, basis, false, product(true, basis, false, S)));
  double longest = 0;
  for (int j = 0; j < columns; ++j) {
    double square = 0;
    for (int i = 0; i < rows; ++i) square += std::norm(rest.at(i, j));
    longest = std::max(longest, std::sqrt(square));
  }
  if (!tally.count(result.is_sufficient && rank <= expected + 1 + expected / 20 &&
                   longest * error_over_column(rows, rank) <= 1.3 * tolerance &&
                   is_near(product(true, basis, false, basis), identity, 1e4) &&
                   is_near(product(false, S, false, inverse), basis, loss)))
    std::printf("core %d by %d, decay %g, place %d: rank %d (%d), sufficient %d, rest %g\n", rows,
                columns, ratio, static_cast<int>(place), rank, expected, result.is_sufficient,
                longest);
}

template <class D>
CoreResult run_basis(const BasisItem& item, Place place) {
  static char memory[1 << 18];
  CoreResult result{};
  const auto keep = [&](const CoreResult& found) {
    if (threadIdx.x == 0) result = found;
  };
  if (place == Place::memory) {
    run_grid(1, 1, 1, kCoreThreads, [&] { keep(LargeBasis<D, 1>(item, memory).run()); });
  } else if (place == Place::block) {
    run_grid(1, 1, 1, kBlockedThreads, [&] { keep(BlockedBasis<D, 1>(item, memory).run()); });
  } else {
    constexpr int kBlocks = 2;
    const size_t bytes =
        BlockedCoreMemory<D>::bytes(item.core.rows, item.core.columns, item.tests, kBlocks);
    run_cluster<kBlocks>(bytes, [&](unsigned rank) {
      const CoreResult found = BlockedBasis<D, kBlocks>(item, memory + rank * bytes).run();
      if (rank == 0) keep(found);
    });
  }
  return result;
}

/// The first `columns` columns are random combinations of vectors whose sizes decrease by `ratio`,
/// and the last ones are tests. Computes a basis that the tests accept, or one of least rank for
/// all columns without tests.
template <class D>
void try_basis(int rows, int columns, int tests, double ratio, double tolerance, Place place) {
  using R = Real<D>;
  const int all = columns + tests;
  Dense<D> left = Dense<D>::random(rows, all);
  for (int j = 0; j < all; ++j)
    for (int i = 0; i < rows; ++i) left.at(i, j) *= R(std::pow(ratio, j));
  const Dense<D> S = product(false, left, true, Dense<D>::random(all, all));
  Dense<D> work(rows, all), factor(all, all), Q(rows, all);
  std::fill(factor.elements.begin(), factor.elements.end(), R(7));
  const BasisItem item{{S.data(), work.data(), factor.data(), nullptr, Q.data(), rows, all, 0,
                        place != Place::memory},
                       tests,
                       tolerance};
  const CoreResult result = run_basis<D>(item, place);
  const int rank = result.rank;
  Dense<D> basis(rows, rank), identity(rank, rank), R_of_all(rank, all);
  std::copy_n(Q.data(), rows * rank, basis.data());
  for (int i = 0; i < rank; ++i) identity.at(i, i) = R(1);
  for (int j = 0; j < all; ++j)
    for (int i = 0; i < rank; ++i) R_of_all.at(i, j) = factor.at(i, j);
  // The residual of the tests or of all columns, by Q Q^H and by Q R.
  double rests[2] = {0, 0};
  for (const bool by_factor : {false, true}) {
    Dense<D> rest = S;
    subtract(rest,
             product(false, basis, false, by_factor ? R_of_all : product(true, basis, false, S)));
    for (int j = tests > 0 ? columns : 0; j < all; ++j)
      for (int i = 0; i < rows; ++i) rests[by_factor] += std::norm(rest.at(i, j));
  }
  const double scale = 1. / (tests > 0 ? tests : 1), rest = std::sqrt(rests[0] * scale);
  // One pivot at a time finds the least rank; panels may need a few more.
  const int least = place == Place::memory ? rank
                                           : run_basis<D>({{S.data(), work.data(), factor.data(),
                                                            nullptr, Q.data(), rows, all, 0, false},
                                                           tests,
                                                           tolerance},
                                                          Place::memory)
                                                 .rank;
  const bool is_enough = ratio < 1;  // otherwise no rank is sufficient
  const bool is_right = (result.is_sufficient != 0) == (is_enough || tests == 0) &&
                        std::abs(result.error - rest) <= 0.01 * tolerance + 0.01 * rest &&
                        std::sqrt(rests[1] * scale) <= 1.1 * rest + 0.01 * tolerance &&
                        (!result.is_sufficient || rest <= 1.01 * tolerance) &&
                        rank <= (tests > 0 ? (least + 7) / 8 * 8 + 8 : least + 1 + least / 16) &&
                        is_near(product(true, basis, false, basis), identity, 1e4);
  if (!tally.count(is_right))
    std::printf(
        "basis of %d by %d, %d tests, decay %g, place %d: rank %d (%d), sufficient %d, rest "
        "%g "
        "(%g, by R %g)\n",
        rows, columns, tests, ratio, static_cast<int>(place), rank, least, result.is_sufficient,
        double(result.error), rest, std::sqrt(rests[1] * scale));
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  using namespace chol::cuda::tlr;
  const auto try_columns = [](auto x) {
    using D = decltype(x);
    try_column<D>(70, {70, 70, 33}, 3, 12, 3);
    if (kFindsRaces) return;
    try_column<D>(70, {70, 70, 70, 70, 7}, 5, 65, 2);
    try_column<D>(71, {71, 9}, 2, 3, 0);
    try_column<D>(70, {70, 70}, 0, 20, 3);
  };
  for_each_type(try_columns);
  for_each_type([](auto x) {
    using D = decltype(x);
    for (const int n : {1, 2, 4})
      for (const int m : {1, 32, 45}) try_vectors<D>(m, 37, n, n == 2);
  });
  for_each_type([](auto x) {
    using D = decltype(x);
    const double rest = sizeof(Real<D>) == 8 ? 1e-9 : 1e-4;
    for (const Place place : {Place::memory, Place::block, Place::cluster}) {
      try_core<D>(24, 16, 5, rest, false, place);
      if (kFindsRaces) continue;
      try_core<D>(64, 56, 45, rest, false, place);
      try_core<D>(40, 32, 17, rest, false, place);
      try_core<D>(40, 32, 30, rest, false, place);
      try_core<D>(24, 16, 1, rest, false, place);
      try_core<D>(24, 16, 3, rest, true, place);
      if (place == Place::memory) continue;
      try_decay<D>(64, 56, sizeof(Real<D>) == 8 ? 0.6 : 0.8, 10 * rest, place);
      try_decay<D>(40, 32, 0.3, 10 * rest, place);
    }
  });
  for_each_type([](auto x) {
    using D = decltype(x);
    const bool is_double = sizeof(Real<D>) == 8;
    const double ratio = is_double ? 0.4 : 0.6, tolerance = is_double ? 1e-7 : 1e-2;
    for (const Place place : {Place::memory, Place::block, Place::cluster}) {
      try_basis<D>(70, 41, 8, ratio, tolerance, place);
      try_basis<D>(33, 22, 0, ratio, tolerance, place);
      if (kFindsRaces) continue;
      try_basis<D>(64, 18, 8, 1, tolerance, place);
      try_basis<D>(90, 50, 0, 0.8, 0.1, place);
      try_basis<D>(9, 21, 8, ratio, tolerance, place);
      try_basis<D>(20, 7, 0, 1, 1e-3, place);
    }
  });
  for_each_type([](auto x) {
    using D = decltype(x);
    try_column<D>(71, {71, 9}, 2, 3, 0, true);
  });
  if (!kFindsRaces) {
    try_column<double>(17, {17}, kMiddleItems + 2, 5, 0);
  }
  return tally.report();
}
