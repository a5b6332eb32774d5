// The kernels of cuda/batched/solve/block/kernel.cuh by contexts of the host: every kernel that is
// built, orders up to its largest, both triangles, one right-hand side and sets of them. Shared
// memory is initialized with NaN and copies are executed when waited for, which detects reads that
// are too early or of uninitialized memory.
#include "batched/solve/block/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;

/// @param bound of the orders of a variable batch, from which a block has its warps.
template <class T, bool kSwapped, bool kOne, class Shape>
void solve(int n, int bound, int nrhs, bool backwards) {
  const int warps = BlockSolveLayout<T, kSwapped, kOne, Shape>::threads(bound) / 32;
  const char* const what = kOne ? "one right-hand side" : "sets of right-hand sides";
  solves.check<T, kSwapped>(what, warps, n, nrhs, backwards, [](const BatchProblem<T>& problem) {
    block_solve_kernel<T, kSwapped, kOne, Shape, false>(problem, 64);
  });
}
template <class T, bool kSwapped, class Shape>
void solve_bordered(int n, bool backwards) {
  const int warps = BlockSolveLayout<T, kSwapped, true, Shape>::threads(n - 1) / 32;
  solves.check<T, kSwapped>("bordered", warps, n, n % 8 == 1 ? 3 : 1, backwards,
                            [](const BatchProblem<T>& problem) {
                              block_solve_kernel<T, kSwapped, true, Shape, true>(problem, 64);
                            });
}
/// Every kernel that is built, on orders up to its largest.
template <class T, bool kSwapped, bool kOne, class Shape>
void solve_orders() {
  constexpr int kMost = Shape::kOrder;
  const auto orders =
      orders_to_try({kMost, kMost - 15, kMost - 31, 48, 33, 18, 16, 7, 1}, {kMost, 48, 18});
  for (const int n : orders) {
    const bool backwards = n % 2 == 0;
    const int bound = std::min(n % 3 == 0 ? n + 33 : n, kMost);
    const int nrhs = kOne ? (n % 8 == 1 ? 3 : 1) : (n % 8 == 1 ? 19 : 5);
    solve<T, kSwapped, kOne, Shape>(n, bound, nrhs, backwards);
    if constexpr (kOne)
      if (is_bordered(n, false)) solve_bordered<T, kSwapped, Shape>(n, backwards);
  }
  if constexpr (kOne && Shape::kWarpBlocks == 1)
    solve_bordered<T, kSwapped, Shape>(kMost + 1, false);
}
template <class T, bool kSwapped, bool kOne>
void solve_all() {
  []<class... Shape>(ShapeList<Shape...>) {
    (solve_orders<T, kSwapped, kOne, Shape>(), ...);
  }(BlockSolveShapes<T, kOne>{});
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_storage([]<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) {
    solve_all<T, kSwapped, true>();
    solve_all<T, kSwapped, false>();
  });
  return solves.report();
}
