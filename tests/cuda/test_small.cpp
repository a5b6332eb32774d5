// The kernels of cuda/batched/register/kernel.cuh and register/vbatched_kernel.cuh by contexts of
// the host: every shape that is built, each task, both storages, batches smaller than a block,
// equal and mixed orders, bad pivots, invalid arguments. Shared memory is filled with NaN before
// each batch, which detects reads of uninitialized memory.
#include <cstdio>
#include <vector>

#include "batched/register/vbatched_kernel.cuh"
#include "host_batch.hpp"

namespace chol::cuda {
namespace {

template <class T, class Shape, SmallTask kTask, bool kSwapped>
class Suite {
 public:
  static void run() {
    for (const bool mixed : {false, true}) {
      spoil_shared_memory();
      for (const int n : {Shape::kOrder, Shape::kOrder - 1, 1 + random_below(Shape::kOrder)})
        if (n == Shape::kOrder || (n > 0 && !kFindsRaces)) try_order(n, 1 + (n + mixed) % 3, mixed);
    }
    if constexpr (kFactors<kTask> && !kFindsRaces) try_extremes();
  }

 private:
  using Data = Batch<T, kSwapped>;
  static constexpr int kPerBlock = Shape::kWarps * 32 / Shape::kLanes;
  static constexpr int kCount = kPerBlock + (kPerBlock + 1) / 2;

  static void launch(const BatchProblem<T>& problem) {
    HostBlock block = block_of(32 * Shape::kWarps);
    const int grid = static_cast<int>((problem.count + kPerBlock - 1) / kPerBlock);
    for (int index = 0; index < grid; ++index)
      block.run(
          [&] {
            small_kernel<T, kSmallOrder<Shape>, Shape::kLanes, Shape::kWarps, Shape::kBlocks, kTask,
                         kSwapped>(problem);
          },
          index);
  }
  static void spoil_shared_memory() {
    Data data(kPerBlock, Shape::kOrder, 1, 0, false);
    for (T& x : data.A) x = from_real<T>(Real<T>(Data::kNaN));
    launch(data.problem(false));
  }

  static void try_extremes() {
    for (const int half : kExtremes<T>) {
      Data before(kCount, Shape::kOrder, 0, 0, false);
      if (count_scaled(before, half, launch)) continue;
      std::printf(
          "element of %zu bytes, swapped %d, task %d, shape %d by %d lanes: scaled by 2^%d\n",
          sizeof(T), kSwapped, int(kTask), Shape::kOrder, Shape::kLanes, 2 * half);
    }
  }
  static void try_order(int n, int nrhs, bool mixed) {
    if (kIsOfOne<kTask>) nrhs = 1;
    Data before(kCount, n, nrhs, n % 2, mixed);
    std::vector<int> expected(kCount, 0);
    if constexpr (kFactors<kTask>) spoil_pivots(before, expected);
    Data after = before;
    launch(after.problem(mixed));
    if (count_batch<kTask>(before, after, expected)) return;
    std::printf("element of %zu bytes, swapped %d, task %d, shape %d by %d lanes: n %d, mixed %d\n",
                sizeof(T), kSwapped, int(kTask), Shape::kOrder, Shape::kLanes, n, mixed);
  }
};

/// register/vbatched_kernel.cuh: blocks with shares of several lengths, arguments that the kernel
/// must refuse.
template <class T, bool kSwapped>
class DealtSuite {
 public:
  static void run() {
    spoil_shared_memory();
    for (const int n : {Dealt::kOrder, Dealt::kOrder - 1, Dealt::kOrder / 2, 1})
      for (const int share : {1, 7, Dealt::kShare}) try_dealt(n, share);
  }

 private:
  using Data = Batch<T, kSwapped>;
  using Dealt = VbatchedRegisterShape<T>;
  static constexpr int kBadOrder = 3, kCount = Dealt::kShare + 9;

  static void launch_dealt(const BatchProblem<T>& problem, int share) {
    HostBlock block = block_of(32 * Dealt::kWarps);
    const int grid = static_cast<int>((problem.count + share - 1) / share);
    for (int index = 0; index < grid; ++index)
      block.run([&] { vbatched_register_kernel<T, kSwapped, Dealt>(problem, share); }, index);
  }
  static void spoil_shared_memory() {
    Data data(4 * Dealt::kWarps, Dealt::kOrder, 0, 0, false);
    for (T& x : data.A) x = from_real<T>(Real<T>(Data::kNaN));
    launch_dealt(data.problem(true), 4 * Dealt::kWarps);
  }

  static void try_dealt(int n, int share) {
    Data before(kCount, n, 0, n % 2, true);
    std::vector<int> expected(kCount, 0);
    spoil_pivots(before, expected);
    Data after = before;
    std::vector<int64_t> orders = before.orders;
    for (int b = 4; b < kCount; b += 11) {
      orders[b] = b % 2 ? n + 1 : -1;
      before.orders[b] = after.orders[b] = 0;  // nothing of it may change
      expected[b] = -kBadOrder;
    }
    auto problem = after.problem(true);
    problem.orders = orders.data();
    problem.unchecked = true;
    problem.position.n = kBadOrder;
    launch_dealt(problem, share);
    if (count_batch<SmallTask::factor>(before, after, expected)) return;
    std::printf("binned, element of %zu bytes, swapped %d: n %d, share %d\n", sizeof(T), kSwapped,
                n, share);
  }
};

template <class T, SmallTask kTask, class... Shape>
void try_shapes(ShapeList<Shape...>) {
  (Suite<T, Shape, kTask, false>::run(), ...);
  (Suite<T, Shape, kTask, true>::run(), ...);
}
template <class T>
void try_all() {
  DealtSuite<T, false>::run();
  DealtSuite<T, true>::run();
  try_shapes<T, SmallTask::factor>(SmallShapes<SmallTask::factor, T>{});
  try_shapes<T, SmallTask::solve>(SmallShapes<SmallTask::solve, T>{});
  try_shapes<T, SmallTask::solve>(OneRhsShapes<T>{});
  try_shapes<T, SmallTask::factor_and_solve>(SmallShapes<SmallTask::factor_and_solve, T>{});
  try_shapes<T, SmallTask::solve_one>(SmallShapes<SmallTask::solve_one, T>{});
  try_shapes<T, SmallTask::factor_and_solve_one>(SmallShapes<SmallTask::factor_and_solve_one, T>{});
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_type([]<class T>(T) {
    // Under ThreadSanitizer one real and one complex type only: compiling takes long.
    constexpr bool kLikeAnother = sizeof(T) == 8;
    if constexpr (!kFindsRaces || !kLikeAnother) try_all<T>();
  });
  return tally.report();
}
