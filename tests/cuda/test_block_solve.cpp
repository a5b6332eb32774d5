// The kernels of cuda/batched/solve/block/kernel.cuh by contexts of the host: orders up to the
// largest, both storages, one right-hand side and sets of them. Shared memory begins as NaN and
// copies arrive when they are waited for, so that what is read too early, or was never written,
// shows.
#include "batched/solve/block/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;

/// @param bound of the orders of a variable batch, from which a block has its warps.
template <class T, bool kSwapped, bool kOne>
void solve(int n, int bound, int nrhs, bool backwards, bool has_tensor, bool misaligned) {
  for_block_solve_shape<T, kOne>(bound, has_tensor, misaligned, false, [&]<class Shape>(Shape) {
    const int warps = BlockSolveLayout<T, kSwapped, kOne, Shape>::threads(bound) / 32;
    const char* const what = kOne ? "one right-hand side" : "sets of right-hand sides";
    solves.check<T, kSwapped>(what, warps, n, nrhs, backwards, [](const BatchProblem<T>& problem) {
      block_solve_kernel<T, kSwapped, kOne, Shape, false>(problem, 64);
    });
  });
}
template <class T, bool kSwapped>
void solve_bordered(int n, bool misaligned, int nrhs, bool backwards) {
  for_block_solve_shape<T, true>(n, true, misaligned, true, [&]<class Shape>(Shape) {
    const int warps = BlockSolveLayout<T, kSwapped, true, Shape>::threads(n - 1) / 32;
    solves.check<T, kSwapped>("bordered", warps, n, nrhs, backwards,
                              [](const BatchProblem<T>& problem) {
                                block_solve_kernel<T, kSwapped, true, Shape, true>(problem, 64);
                              });
  });
}
template <class T, bool kSwapped>
void solve_orders() {
  constexpr int kMostOfOne = most_block_solve<T, true>(), kMost = most_block_solve<T, false>();
  const auto orders = orders_to_try(
      {kMostOfOne, kMostOfOne - 15, 137, kMost, 113, 97, 81, 65, 48, 33, 18, 16, 7, 1},
      {kMostOfOne, kMost, 97, 48, 18});
  for (const int n : orders) {
    const bool backwards = n % 2 == 0;
    const int more = n % 3 == 0 ? n + 33 : n;
    for (const bool misaligned : {false, true}) {
      const int nrhs = n % 8 == 1 ? 3 : 1;
      solve<T, kSwapped, true>(n, std::min(more, kMostOfOne), nrhs, backwards, true, misaligned);
      if (has_border(n)) solve_bordered<T, kSwapped>(n, misaligned, nrhs, backwards);
    }
    if (n > kMost) continue;
    const int bound = std::min(more, kMost);
    for (const bool has_tensor : {true, false})
      if (n % 4 < 3 && (has_tensor || sizeof(Real<T>) == 4))
        solve<T, kSwapped, false>(n, bound, n % 8 == 1 ? 19 : 5, !backwards, has_tensor, false);
  }
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_storage(
      []<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) { solve_orders<T, kSwapped>(); });
  return solves.report();
}
