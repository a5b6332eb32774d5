// The launches of warp_solve.cuh.
#pragma once

#include "batched/kernels.hpp"
#include "batched/warp_solve.cuh"

namespace chol::cuda {

template <class T, bool kSwapped, int kGroup, int kColumns, int kWarps, bool kBordered>
Status launch_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  const int n = static_cast<int>(problem.n) - kBordered;
  const size_t bytes = WarpSolveShape<T, kSwapped, kGroup, kColumns, kWarps>::bytes(n);
  return launch("warp solve", warp_solve_kernel<T, kSwapped, kGroup, kColumns, kWarps, kBordered>,
                static_cast<unsigned>(problem.count), 32 * kWarps, bytes, stream, problem);
}

/// What a matrix takes of shared memory bounds the order.
template <class T, bool kSwapped>
int warp_solve_limit_stored() {
  const int64_t most = block_shared_limit();
  int n = 32 * kMostWarpGroup;
  using Largest = WarpSolveShape<T, kSwapped, kMostWarpGroup, 1, kSolveWarps<kMostWarpGroup>>;
  while (n > 0 && Largest::bytes(n) > size_t(most)) n -= 8;
  return n;
}

/// Calls body(group) with the rows of a lane that orders up to n need.
template <class Body>
Status for_warp_group(int64_t n, Body&& body) {
  if (n <= 32) return body(std::integral_constant<int, 1>{});
  if (n <= 64) return body(std::integral_constant<int, 2>{});
  return body(std::integral_constant<int, kMostWarpGroup>{});
}

template <class T, bool kSwapped>
Status run_warp_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  const auto launch = [&]<bool kBordered>(std::bool_constant<kBordered>) {
    return for_warp_group(
        problem.n - kBordered, [&]<int kGroup>(std::integral_constant<int, kGroup>) {
          constexpr int kColumns = kWarpSolveColumns<T, kGroup>, kWarps = kSolveWarps<kGroup>;
          return problem.nrhs == 1
                     ? launch_warp_solve<T, kSwapped, kGroup, 1, kWarps, kBordered>(problem, stream)
                     : launch_warp_solve<T, kSwapped, kGroup, kColumns, kWarps, kBordered>(problem,
                                                                                           stream);
        });
  };
  const bool bordered = !problem.orders && (problem.n == 33 || problem.n == 65);
  return bordered ? launch(std::true_type{}) : launch(std::false_type{});
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_WARP_SOLVE(kSwapped, T)                                               \
  template chol::Status chol::cuda::run_warp_solve_stored<T, kSwapped>(const BatchProblem<T>&, \
                                                                       cudaStream_t);          \
  template int chol::cuda::warp_solve_limit_stored<T, kSwapped>();
