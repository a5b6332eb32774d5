// The kernels of cuda/tlr/wide_products.cuh, emulated on the host, in the products and solves by
// stages, against sums in order. Shared memory is initialized with NaN.
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "elements.hpp"
#include "random_triangle.hpp"
#include "shared_memory.hpp"
#include "tally.hpp"
#include "tlr/thin_products.cuh"
#include "tlr/wide_products.cuh"
#include "tlr/wide_stages.hpp"

namespace chol::cuda::tlr {
namespace {

Tally tally;

template <class D>
constexpr int kStep = sizeof(D) == 16 ? 8 : 16;
/// The kernels' shapes, with fewer warps and columns.
template <class D>
using TaskShape = WideShape<D, 2, 2, 1, Traits<D>::is_complex ? 1 : 2, 2, kStep<D>, 3>;
template <class D>
using SmallShape = WideShape<D, 2, 2, 2, 1, 2, 2 * kStep<D>, 3>;

/// A block shape of each kind used in solves.
template <class D>
struct WideBlocks {
  static constexpr int kColumns = 32;
  using Small = SmallShape<D>;
  using Large = TaskShape<D>;
  static constexpr int kNearThreads = Small::kThreads, kThreads = Large::kThreads;
  static constexpr int kSolveRows = Small::kRows;
  static constexpr WideTaskSizes kSizes{Small::kRows, Small::kRows, Large::kRows,
                                        Large::kRows, 10,           16};
  static void near_right(const WideCall& call, const RightTask& task) {
    WideProducts<Small>(call, shared).multiply_right(task, 0, kColumns);
  }
  static void far_right(const WideCall& call, const RightTask& task) {
    WideProducts<Large>(call, shared).multiply_right(task, 0, kColumns);
  }
  static void solve(const WideCall& call, const D* inverse, int start, int order, int row) {
    WideProducts<Small>(call, shared).solve(inverse, start, order, row, 0, kColumns);
  }
  static void subtract(const WideCall& call, const PartTask& task) {
    WideProducts<Small>(call, shared).subtract_all(task, 0, kColumns);
  }
  static void set_part(const WideCall& call, const PartTask& task) {
    WideProducts<Large>(call, shared).set_part(task, 0, kColumns);
  }
};
template <class D, int kColumns_>
struct ThinBlocks {
  static constexpr int kColumns = kColumns_;
  using Products = ThinProducts<D, kColumns>;
  static constexpr int kNearThreads = Products::kThreads, kThreads = Products::kThreads;
  static constexpr int kSolveRows = Products::kSolveRows;
  static constexpr WideTaskSizes kSizes{16, 8, 32, 128, 10, 16};
  static void near_right(const WideCall& call, const RightTask& task) {
    Products(call, shared).multiply_right(task);
  }
  static void far_right(const WideCall& call, const RightTask& task) { near_right(call, task); }
  static void solve(const WideCall& call, const D* inverse, int start, int order, int row) {
    Products(call, shared).solve(inverse, start, order, row);
  }
  static void subtract(const WideCall& call, const PartTask& task) {
    Products(call, shared).template subtract_all<8>(task);
  }
  static void set_part(const WideCall& call, const PartTask& task) {
    Products(call, shared).template set_part<128>(task);
  }
};

/// The lists of a sweep, and the arguments of the kernels.
template <class D, class Blocks>
struct Wide {
  using T = typename PublicOf<D>::Type;
  static constexpr int kAll = Blocks::kColumns;
  WideLists<T> lists;
  std::vector<RightColumn> right;
  std::vector<LeftColumn> left;
  std::vector<T> W, X, Y, parts;
  std::vector<int> starts;
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
        columns(how_many) {
    std::memset(static_cast<void*>(W.data()), 0xFF, sizeof(T) * W.size());
    const WideTileColumns* tile = lists.tiles.data();
    for (int target = 0; target < lists.count; ++target)
      for (int source = 0; source < target; ++source, ++tile) list(*tile, target, source);
    call = {right.data(),
            left.data(),
            lists.identities.data(),
            starts.data(),
            W.data(),
            X.data(),
            Y.data(),
            nullptr,
            0,
            0,
            kAll,
            1,
            kAll,
            adjoint,
            L.has_pairs,
            static_cast<int>(L.tile)};
  }
  void list(const WideTileColumns& tile, int target, int source) {
    for (int c = 0; c < tile.count; ++c) {
      if (tile.right)
        right[tile.right_first + c] = {
            static_cast<const T*>(tile.right) + int64_t{c} * lists.rows(source), tile.row + c};
      if (tile.left)
        left[tile.left_first + c] = {
            static_cast<const T*>(tile.left) + int64_t{c} * lists.rows(target),
            tile.right ? int64_t{tile.row} + c : ~(int64_t{tile.row} + c)};
    }
  }
  void gather(const T* from, int64_t ldx, std::vector<T>& to) const {
    const int64_t n = std::ssize(to) / kAll;
    for (int64_t i = 0; i < n; ++i)
      for (int r = 0; r < kAll; ++r) to[i * kAll + r] = r < columns ? from[i + r * ldx] : T(0);
  }
  template <class Kernel>
  static void run(int threads, int64_t blocks, Kernel&& kernel) {
    for (int block = 0; block < blocks; ++block) {
      spoil_shared_memory();
      HostBlock(threads, tally.cases % 2 == 0).run([&] { kernel(block); }, block);
    }
  }
  void multiply() {
    using Shape = TaskShape<D>;
    std::vector<RightTask> right_tasks;
    std::vector<LeftTask> left_tasks;
    lists.add_right(right_tasks, 0, lists.count, 0, lists.count, Shape::kRows);
    lists.add_left(left_tasks, 0, lists.count, 0, lists.count, Shape::kRows);
    run(Shape::kThreads, std::ssize(right_tasks), [&](int block) {
      WideProducts<Shape>(call, shared).multiply_right(right_tasks[block], 0, kAll);
    });
    run(Shape::kThreads, std::ssize(left_tasks),
        [&](int block) { WideProducts<Shape>(call, shared).add_sums(left_tasks[block], 0, kAll); });
  }
  /// Executes tasks in the order of the device's streams with the largest delays.
  void solve(const backend::LowerTiles<T>& L) {
    const WideStages<T> plan(lists, L, call.adjoint, Blocks::kSizes);
    parts.resize(static_cast<size_t>(kPartBuffers * plan.part_rows) * kAll);
    std::memset(static_cast<void*>(parts.data()), 0xFF, sizeof(T) * parts.size());
    for (size_t s = 0; s + 1 < plan.stages.size(); ++s) {
      const WideStage &stage = plan.stages[s], &next = plan.stages[s + 1];
      const D* const inverse = reinterpret_cast<const D*>(L.stage_inverses[stage.index]);
      run(Blocks::kNearThreads, (stage.order + Blocks::kSolveRows - 1) / Blocks::kSolveRows,
          [&](int block) {
            Blocks::solve(call, inverse, stage.start, stage.order, block * Blocks::kSolveRows);
          });
      run(Blocks::kNearThreads, stage.far_right - stage.near_right,
          [&](int block) { Blocks::near_right(call, plan.right[stage.near_right + block]); });
      use_parts_of(plan, s + 1);
      run(Blocks::kNearThreads, next.near_left - stage.near_left,
          [&](int block) { Blocks::subtract(call, plan.left[stage.near_left + block]); });
      run(Blocks::kThreads, next.near_right - stage.far_right,
          [&](int block) { Blocks::far_right(call, plan.right[stage.far_right + block]); });
      if (stage.parts == next.parts) continue;
      use_parts_of(plan, s + kNearStages + 1);
      run(Blocks::kThreads, next.parts - stage.parts,
          [&](int block) { Blocks::set_part(call, plan.parts[stage.parts + block]); });
    }
  }
  void use_parts_of(const WideStages<T>& plan, size_t target) {
    call.parts = parts.data() + target % kPartBuffers * plan.part_rows * kAll;
    call.part_count = plan.stages[target].part_count;
    call.part_rows = plan.stages[target].order;
  }
};

template <class D, class Blocks = WideBlocks<D>>
void check(int tile, int count, int shorter, int last, bool adjoint, bool solves, bool has_pairs,
           int columns) {
  using T = typename PublicOf<D>::Type;
  Triangle<D> triangle(tile, count, shorter, last, has_pairs);
  const int n = triangle.n, ldx = n + 3;
  typename Triangle<D>::Block X(ldx, columns, 1);
  Wide<D, Blocks> wide(triangle.L, adjoint, n, columns);
  const std::vector<T>* result = &wide.Y;
  if (solves) {
    wide.gather(X.elements.data(), ldx, wide.Y);
    std::vector<std::vector<T>> inverses;
    triangle.L.stage = tally.cases % 3 + 1;
    for (int first = 0; first < count; first += int(triangle.L.stage))
      inverses.push_back(
          triangle.inverse_of(first, std::min(first + int(triangle.L.stage), count)));
    for (const std::vector<T>& inverse : inverses)
      triangle.L.stage_inverses.push_back(inverse.data());
    wide.solve(triangle.L);
    result = &wide.X;
  } else {
    wide.gather(X.elements.data(), ldx, wide.X);
    wide.multiply();
  }
  double error = 0;
  for (int r = 0; r < columns; ++r) {
    const std::vector<T> expected =
        triangle.expected(adjoint, solves, X.elements.data() + int64_t{r} * ldx);
    for (int i = 0; i < n; ++i) {
      const double difference = std::abs((*result)[size_t(i) * wide.kAll + r] - expected[i]);
      error = difference <= error ? error : difference;  // NaN is kept
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
  for (const bool adjoint : {false, true}) {
    check<D, ThinBlocks<D, 1>>(20, 4, 3, 7, adjoint, true, false, 1);
    check<D, ThinBlocks<D, 4>>(20, 5, 1, 9, adjoint, true, true, 3);
    if (!kFindsRaces) {
      check<D, ThinBlocks<D, 1>>(33, 7, 3, 1, adjoint, true, true, 1);
      check<D, ThinBlocks<D, 1>>(100, 1, 0, 37, adjoint, true, false, 1);
      check<D, ThinBlocks<D, 1>>(600, 3, 1, 130, adjoint, true, false, 1);
      check<D, ThinBlocks<D, 4>>(160, 4, 3, 130, adjoint, true, false, 4);
    }
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
}

}  // namespace
}  // namespace chol::cuda::tlr

int main() {
  using namespace chol::cuda;
  for_each_type([](auto x) { tlr::check_orders<decltype(x)>(); });
  return tlr::tally.report();
}
