// The kernels of cuda/batched/solve/warp/kernel.cuh by contexts of the host: orders of every
// kernel, the largest and much smaller ones, both storages. Shared memory is initialized with NaN
// and copies are executed when waited for, which detects reads that are too early or of
// uninitialized memory.
#include "batched/solve/warp/kernel.cuh"
#include "solved_system.hpp"

namespace chol::cuda {
namespace {

Solves solves;

template <class T, bool kSwapped, int kGroup, int kColumns, int kBorder = 0>
void solve(int n, int nrhs, bool backwards) {
  constexpr int kWarps = kSolveWarps<kGroup>;
  constexpr const char* kWhat = kGroup == 1   ? "group of 1"
                                : kGroup == 2 ? "group of 2"
                                              : "group of 4";
  solves.check<T, kSwapped>(kWhat, kWarps, n, nrhs, backwards, [](const BatchProblem<T>& problem) {
    warp_solve_kernel<T, kSwapped, kGroup, kColumns, kWarps, kBorder>(problem);
  });
}

template <class T, bool kSwapped, int kGroup>
void solve_orders() {
  for (int n = 32 * kGroup; n > 0; n -= kGroup == 1 ? 1 : n > 16 * kGroup ? kGroup - 1 : 9) {
    const bool backwards = n % 2 == 0;
    solve<T, kSwapped, kGroup, 1>(n, 1, backwards);
    if (n % 4 < 2)
      solve<T, kSwapped, kGroup, kWarpSolveColumns<T, kGroup>>(n, 1 + n % 7, !backwards);
  }
}
/// Orders of one row to kBorder rows below those of all lanes.
template <class T, bool kSwapped, int kGroup, int kBorder>
void solve_bordered() {
  for (int more = 1; more <= kBorder; ++more) {
    const int n = 32 * kGroup + more;
    solve<T, kSwapped, kGroup, 1, kBorder>(n, 1, more % 2 == 0);
    for (const int nrhs : {1, 4, 7})
      solve<T, kSwapped, kGroup, kWarpSolveColumns<T, kGroup>, kBorder>(n, nrhs, nrhs == 4);
  }
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  for_each_storage([]<class T, bool kSwapped>(T, std::bool_constant<kSwapped>) {
    solve_orders<T, kSwapped, 1>();
    solve_orders<T, kSwapped, 2>();
    solve_orders<T, kSwapped, kMostWarpGroup>();
    solve_bordered<T, kSwapped, 1, 1>();
    solve_bordered<T, kSwapped, 1, 4>();
    solve_bordered<T, kSwapped, 1, kMostBorder>();
    solve_bordered<T, kSwapped, 2, 1>();
    solve_bordered<T, kSwapped, 2, 4>();
    solve_bordered<T, kSwapped, 2, kMostBorder>();
  });
  return solves.report();
}
