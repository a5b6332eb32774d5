// The kernel of cuda/batched/solve/left_looking_mma/kernel.cuh by contexts of the host: orders of
// less than a block, of fewer and of more blocks than warps, both storages, full and partial sets
// of right-hand sides. Shared memory is initialized with NaN, which detects reads that are too
// early or of uninitialized memory.
#include "batched/solve/left_looking_mma/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;

template <class T, bool kSwapped, class Shape>
void solve_orders() {
  constexpr int kColumns = kTensorSolveColumns<T>;
  for (const int n : orders_to_try({1, 7, 16, 17, 33, 64, 100, 129, 161, 230, 300}, {33, 161}))
    for (const int nrhs : {kColumns, kColumns / 2 + 1})
      solves.check<T, kSwapped>("right-hand sides", Shape::kWarps, n, nrhs, (n + nrhs) % 2 == 0,
                                [](const BatchProblem<T>& problem) {
                                  tensor_solve_kernel<T, kSwapped, Shape>(problem, 1);
                                });
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_storage([]<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) {
    solve_orders<T, kSwapped, SmallTensorSolve<T>>();
    solve_orders<T, kSwapped, LargeTensorSolve>();
  });
  return solves.report();
}
