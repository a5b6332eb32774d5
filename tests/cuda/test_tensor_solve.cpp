// The kernel of cuda/batched/solve/left_looking_mma/kernel.cuh by contexts of the host: orders of a
// part of a block, of fewer and of more blocks than there are warps, both storages, all right-hand
// sides of a block and some. Shared memory begins as NaN, so that what is read too early, or was
// never written, shows.
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
