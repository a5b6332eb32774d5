// The launches of solve/warp/kernel.cuh.
#pragma once

#include "batched/solve/warp/interface.hpp"
#include "batched/solve/warp/kernel.cuh"

namespace chol::cuda {

template <class T, bool kSwapped, int kGroup, int kColumns, int kWarps, int kBorder>
Status launch_warp_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Shape = WarpSolveShape<T, kSwapped, kGroup, kColumns, kWarps>;
  size_t bytes = Shape::bytes(static_cast<int>(problem.n));
  if constexpr (kBorder > 0) bytes = Shape::template bordered_bytes<kBorder>();
  return launch("warp solve", warp_solve_kernel<T, kSwapped, kGroup, kColumns, kWarps, kBorder>,
                static_cast<unsigned>(problem.count), 32 * kWarps, bytes, stream, problem);
}

/// Shared memory bounds the order.
template <class T, bool kSwapped>
int warp_solve_limit_stored(const DeviceLimits& device) {
  int n = 32 * kMostWarpGroup;
  using Largest = WarpSolveShape<T, kSwapped, kMostWarpGroup, 1, kSolveWarps<kMostWarpGroup>>;
  while (n > 0 && Largest::bytes(n) > size_t(device.block_bytes)) n -= 8;
  return n;
}

/// Calls body(group) with the rows a lane that orders up to n need.
template <class Body>
Status for_warp_group(int64_t n, Body&& body) {
  if (n <= 32) return body(std::integral_constant<int, 1>{});
  if (n <= 64) return body(std::integral_constant<int, 2>{});
  return body(std::integral_constant<int, kMostWarpGroup>{});
}

/// For order n: the rows beyond lanes of one or two rows, if they are few.
inline int64_t rows_of_border(int64_t n) {
  const int64_t more = n - (n < 64 ? 32 : 64);
  return more > 0 && more <= kMostBorder ? more : 0;
}

/// Warps whose lanes have kGroup rows, and kBorder rows beyond these.
template <class T, bool kSwapped, int kGroup, int kBorder>
Status run_warp_solve_of(const BatchProblem<T>& problem, cudaStream_t stream) {
  constexpr int kColumns = kWarpSolveColumns<T, kGroup>, kWarps = kSolveWarps<kGroup>;
  return problem.nrhs == 1
             ? launch_warp_solve<T, kSwapped, kGroup, 1, kWarps, kBorder>(problem, stream)
             : launch_warp_solve<T, kSwapped, kGroup, kColumns, kWarps, kBorder>(problem, stream);
}

template <class T, bool kSwapped>
Status run_warp_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  const int64_t border = problem.orders ? 0 : rows_of_border(problem.n);
  const auto run = [&]<int kBorder>(std::integral_constant<int, kBorder>) {
    return problem.n < 64 ? run_warp_solve_of<T, kSwapped, 1, kBorder>(problem, stream)
                          : run_warp_solve_of<T, kSwapped, 2, kBorder>(problem, stream);
  };
  if (border == 1) return run(std::integral_constant<int, 1>{});
  if (border > 4) return run(std::integral_constant<int, kMostBorder>{});
  if (border > 0) return run(std::integral_constant<int, 4>{});
  return for_warp_group(problem.n, [&]<int kGroup>(std::integral_constant<int, kGroup>) {
    return run_warp_solve_of<T, kSwapped, kGroup, 0>(problem, stream);
  });
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_WARP_SOLVE(kSwapped, T)                                               \
  template chol::Status chol::cuda::run_warp_solve_stored<T, kSwapped>(const BatchProblem<T>&, \
                                                                       cudaStream_t);          \
  template int chol::cuda::warp_solve_limit_stored<T, kSwapped>(const chol::cuda::DeviceLimits&);
