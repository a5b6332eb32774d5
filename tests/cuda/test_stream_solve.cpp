// The kernel of cuda/batched/solve/streaming/kernel.cuh by contexts of the host: orders of less
// than a tile, of some tiles and of more than the warps have at a time, both storages, one
// right-hand side and a few. Shared memory is initialized with NaN and copies are executed when
// waited for, which detects reads that are too early or of uninitialized memory.
#include "batched/solve/streaming/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;

template <class T, bool kSwapped>
void solve_orders() {
  for (const int n : orders_to_try({1, 7, 32, 33, 64, 100, 129, 161, 230}, {33, 161})) {
    solves.check<T, kSwapped>(
        "one right-hand side", kStreamWarps, n, 1, n % 2 == 0,
        [](const BatchProblem<T>& problem) { stream_solve_kernel<T, 1, false>(problem, 1); });
    solves.check<T, kSwapped>(
        "a few right-hand sides", kStreamWarps, n, 3, n % 2 == 1,
        [](const BatchProblem<T>& problem) { stream_solve_kernel<T, 4, false>(problem, 1); });
    solves.check<T, kSwapped>("many right-hand sides", kStreamWarps, n, 1 + kStreamMany<T> * 3 / 4,
                              n % 3 == 1, [](const BatchProblem<T>& problem) {
                                stream_solve_kernel<T, kStreamMany<T>, false>(problem, 1);
                              });
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
