// The kernels of cuda/batched/left_looking/kernel.cuh, cluster/kernel.cuh and
// multi_panel/kernel.cuh by contexts of the host: every shape that is built, both triangles, equal
// and mixed orders, aligned and misaligned, bad pivots. Copies are executed when waited for, which
// detects reads that are too early.
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "batched/cluster/kernel.cuh"
#include "batched/cluster/shapes.hpp"
#include "batched/left_looking/kernel.cuh"
#include "batched/left_looking/shapes.hpp"
#include "batched/multi_panel/kernel.cuh"
#include "batched/multi_panel/shapes.hpp"
#include "host_batch.hpp"
#include "shared_memory.hpp"
#include "tune/refine_rows.hpp"

namespace chol::cuda {
namespace {

constexpr int kCount = kFindsRaces ? 2 : 3;

template <class T, bool kSwapped, SmallTask kTask, class Kernel>
void try_order(const char* what, int warps, int n, bool mixed, Kernel&& kernel) {
  const int nrhs = kTask == SmallTask::factor ? 0 : 1;
  Batch<T, kSwapped> before(kCount, n, nrhs, n % 3 == 0 ? 1 : 0, mixed);
  std::vector<int> expected(kCount, 0);
  spoil_pivots(before, expected);
  auto after = before;
  const BatchProblem<T> problem = after.problem(mixed);
  HostBlock block = block_of(32 * warps);
  for (int b = 0; b < kCount; ++b) {
    spoil_shared_memory();
    block.run([&] { kernel(problem); }, b);
  }
  if (count_batch<kTask>(before, after, expected)) return;
  std::printf("%s, element of %zu bytes, swapped %d, %d warps: n %d, mixed %d\n", what, sizeof(T),
              kSwapped, warps, n, mixed);
}
template <class T, bool kSwapped, class Kernel>
void try_extremes(const char* what, int warps, int n, Kernel&& kernel) {
  for (const int half : kExtremes<T>) {
    Batch<T, kSwapped> before(1, n, 0, 0, false);
    spoil_shared_memory();
    const bool right = count_scaled(before, half, [&](const BatchProblem<T>& problem) {
      block_of(32 * warps).run([&] { kernel(problem); }, 0);
    });
    if (right) continue;
    std::printf("%s, element of %zu bytes, swapped %d, %d warps: scaled by 2^%d\n", what, sizeof(T),
                kSwapped, warps, 2 * half);
  }
}
/// By clusters: the bits of kernel(problem) with so many threads a matrix.
template <class T, bool kSwapped, class Shape, class Kernel>
void try_cluster(int blocks, int n, bool mixed, bool paired, int threads, Kernel&& kernel) {
  constexpr int kThreads = 32 * Shape::kWarps, kMatrices = kFindsRaces ? 1 : 2;
  Batch<T, kSwapped> before(kMatrices, n, 0, n % 3 == 0 ? 1 : 0, mixed);
  std::vector<int> expected(kMatrices, 0);
  if (blocks == 2 && !kFindsRaces) spoil_pivots(before, expected);
  auto after = before, by_one = before;
  const BatchProblem<T> problem = after.problem(mixed), one_problem = by_one.problem(mixed);
  HostBlock cluster = cluster_of(kThreads, blocks), block = block_of(threads);
  for (int b = 0; b < kMatrices; ++b) {
    spoil_shared_memory();
    cluster.run([&] { cluster_left_looking_kernel<T, kSwapped, Shape>(problem, paired); },
                b * blocks);
    spoil_shared_memory();
    block.run([&] { kernel(one_problem); }, b);
  }
  bool right = count_batch<SmallTask::factor>(before, after, expected);
  for (int b = 0; b < kMatrices; ++b)
    if (expected[b] == 0) right = tally.count(same_matrix(after, by_one, b)) && right;
  if (right) return;
  std::printf(
      "cluster, element of %zu bytes, swapped %d, %d warps, %d blocks: n %d, mixed %d, paired %d\n",
      sizeof(T), kSwapped, Shape::kWarps, blocks, n, mixed, paired);
}
template <class T, bool kSwapped, class Shape>
void try_cluster_shape() {
  static_assert(ClusterLeftLooking<T, kSwapped, Shape>::kBytes < kSharedBytes / 4 - 128);
  const auto one_block = [](const BatchProblem<T>& problem) {
    left_looking_kernel<T, kSwapped, Shape, false>(problem, false);
  };
  constexpr int kThreads = 32 * Shape::kWarps;
  for (const int n : orders_to_try({33, 100}, {75}))
    try_cluster<T, kSwapped, Shape>(2, n, n == 100, false, kThreads, one_block);
  if (!kFindsRaces) try_cluster<T, kSwapped, Shape>(3, 133, false, false, kThreads, one_block);
}
/// If larger batches use multi-panel kernels, which have other bits, those.
template <class T, bool kSwapped, class Shape, class Wide>
void try_paired_cluster() {
  if constexpr (Traits<T>::is_complex && Wide::kBy == ProductBy::tensor) {
    const auto kernel = wide_left_looking_kernel<T, kSwapped, Wide>;
    for (const int n : orders_to_try({96, 123, 150}, {75}))
      try_cluster<T, kSwapped, Shape>(n == 150 ? 1 : 2, n, false, true, 32 * Wide::kWarps, kernel);
  }
}
template <class T, bool kSwapped, class... Shape, class... Wide>
void try_clusters(ShapeList<Shape...>, ShapeList<Wide...>) {
  (try_cluster_shape<T, kSwapped, Shape>(), ...);
  const auto try_with = [&]<class Its>(Its) {
    (try_paired_cluster<T, kSwapped, Its, Wide>(), ...);
  };
  (try_with(Shape{}), ...);
}
ClusterPlan cluster_plan(char precision, bool upper, int64_t n, int64_t count,
                         int multiprocessors) {
  for (const ClusterRow& row : cluster_rows())
    if (row.precision == precision && allows(row.upper, upper) && row.least_n <= n &&
        count <= most_matrices(row, multiprocessors))
      return row.plan;
  return {};
}
/// Every row for few matrices has its kernel, larger batches have no such row, and on devices with
/// more multiprocessors rows serve more matrices.
template <class T>
void try_cluster_rows(char precision) {
  const auto has = []<class... Shape>(ShapeList<Shape...>, int threads) {
    return ((threads == 32 * Shape::kWarps) || ...);
  };
  for (const bool upper : {false, true})
    for (const int64_t n : {100, 256, 300, 450, 640, 1024, 5000})
      for (const int64_t count : {1, 12, 13, 30, 50, 75, 100, 132, 133, 10000}) {
        const ClusterPlan plan = cluster_plan(precision, upper, n, count, 132);
        const ClusterPlan larger = cluster_plan(precision, upper, n, 2 * count, 264);
        const bool is_built = upper ? has(ClusterList<T, true>{}, plan.threads)
                                    : has(ClusterList<T, false>{}, plan.threads);
        const bool is_plan = is_built && plan.blocks > 0 && plan.blocks <= 8;
        const bool wanted = n >= 300 && count <= 66;
        tally.count((plan.blocks == 0 || is_plan) && (!wanted || is_plan) &&
                    (count <= 132 || plan.blocks == 0) && plan.blocks == larger.blocks &&
                    plan.threads == larger.threads);
      }
}
/// A matrix of a variable batch that has no right-hand side.
template <class T, bool kSwapped, class Kernel>
void try_without_solution(int warps, Kernel&& kernel) {
  Batch<T, kSwapped> before(1, 50, 1, 0, false);
  auto after = before;
  BatchProblem<T> problem = after.problem(false);
  const int64_t none = 0;
  problem.rhs_counts = &none;
  spoil_shared_memory();
  block_of(32 * warps).run([&] { kernel(problem); }, 0);
  bool right = is_right<T, kSwapped, SmallTask::factor>(before, after, 0, 0);
  for (int i = 0; i < before.n; ++i)
    right = right && same_bits(before.rhs(0, i, 0), after.rhs(0, i, 0));
  if (tally.count(right)) return;
  std::printf("left looking, element of %zu bytes, swapped %d, %d warps: no right-hand side\n",
              sizeof(T), kSwapped, warps);
}
/// Matrices of one order whose last row is a border, with bad pivots in it and before it.
template <class T, bool kSwapped, class Shape>
void try_bordered() {
  constexpr const char* kWhat = "left looking, bordered";
  const auto kernel = [](const BatchProblem<T>& problem) {
    left_looking_kernel<T, kSwapped, Shape, true>(problem, true);
  };
  for (const int n : orders_to_try({33, 65, 129}, {65}))
    try_order<T, kSwapped, SmallTask::factor>(kWhat, Shape::kWarps, n, false, kernel);
  try_extremes<T, kSwapped>(kWhat, Shape::kWarps, 33, kernel);
  for (const T last : {from_real<T>(-1), from_real<T>(Real<T>(Batch<T, kSwapped>::kNaN))}) {
    Batch<T, kSwapped> before(1, 65, 0, 1, false);
    before.at(0, 64, 64) = last;
    auto after = before;
    const BatchProblem<T> problem = after.problem(false);
    spoil_shared_memory();
    block_of(32 * Shape::kWarps).run([&] { kernel(problem); }, 0);
    if (count_batch<SmallTask::factor>(before, after, {65})) continue;
    std::printf("%s, element of %zu bytes, swapped %d, %d warps: its pivot\n", kWhat, sizeof(T),
                kSwapped, Shape::kWarps);
  }
}
/// Orders whose first block column is full, narrow, or a single column.
template <class T, bool kSwapped, SmallTask kTask = SmallTask::factor, class Kernel>
void try_orders(const char* what, int warps, Kernel&& kernel) {
  for (const int n : orders_to_try({1, 7, 33, 64, 100, 133}, {75}))
    try_order<T, kSwapped, kTask>(what, warps, n, n == 64, kernel);
}

template <class T, bool kSwapped, class Shape>
void try_left_looking() {
  static_assert(LeftLooking<T, kSwapped, Shape, true>::bytes(133) <= kSharedBytes);
  const auto factor = [](const BatchProblem<T>& problem) {
    left_looking_kernel<T, kSwapped, Shape, false>(problem, false);
  };
  try_orders<T, kSwapped>("left looking", Shape::kWarps, factor);
  try_extremes<T, kSwapped>("left looking", Shape::kWarps, 50, factor);
  if constexpr (kSolvesAlong<Shape>) {
    const auto solve = [](const BatchProblem<T>& problem) {
      left_looking_kernel<T, kSwapped, Shape, true>(problem, false);
    };
    try_orders<T, kSwapped, SmallTask::factor_and_solve>("left looking, solution too",
                                                         Shape::kWarps, solve);
    try_without_solution<T, kSwapped>(Shape::kWarps, solve);
    try_bordered<T, kSwapped, Shape>();
  }
}
template <class T, bool kSwapped, class Shape>
void try_wide() {
  static_assert(WideLayout<T, kSwapped, Shape>::kBytes <= kSharedBytes);
  const auto kernel = wide_left_looking_kernel<T, kSwapped, Shape>;
  try_orders<T, kSwapped>("wide left looking", Shape::kWarps, kernel);
  try_order<T, kSwapped, SmallTask::factor>("wide left looking", Shape::kWarps, 200, false, kernel);
}

template <class T, bool kSwapped, class... Shape, class... Wide>
void try_shapes(ShapeList<Shape...>, ShapeList<Wide...>) {
  (try_left_looking<T, kSwapped, Shape>(), ...);
  (try_wide<T, kSwapped, Wide>(), ...);
}
template <class T>
void try_all() {
  try_clusters<T, false>(ClusterList<T, false>{}, WideShapes<T, false>{});
  try_clusters<T, true>(ClusterList<T, true>{}, WideShapes<T, true>{});
  // Also those built only with a fused right-hand side.
  try_shapes<T, false>(LeftLookingList<T, false, true>{}, WideShapes<T, false>{});
  try_shapes<T, true>(LeftLookingList<T, true, true>{}, WideShapes<T, true>{});
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  try_cluster_rows<float>('s');
  try_cluster_rows<double>('d');
  try_cluster_rows<Complex<float>>('c');
  try_cluster_rows<Complex<double>>('z');
  for_each_type([]<class T>(T) { try_all<T>(); });
  return tally.report();
}
