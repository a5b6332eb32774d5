// The launches of solve/block/kernel.cuh.
#pragma once

#include "batched/solve/block/interface.hpp"
#include "batched/solve/block/kernel.cuh"
#include "batched/solve/grid.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, bool kOne, class Shape, bool kBordered>
Status launch_block_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Layout = BlockSolveLayout<T, kSwapped, kOne, Shape>;
  const int n = static_cast<int>(problem.n) - kBordered;
  const SolveGrid grid(problem.count, problem.nrhs);
  return launch("block solve", block_solve_kernel<T, kSwapped, kOne, Shape, kBordered>, grid.blocks,
                Layout::threads(n), Layout::bytes(n), stream, problem, grid.columns_of_block);
}

template <class T, bool kSwapped>
Status run_block_solve_stored(const BatchProblem<T>& problem, const BlockSolveParams& params,
                              cudaStream_t stream) {
  Status status = Status::error(Status::kNotSupported, "block solve: no such kernel for order %d",
                                static_cast<int>(problem.n));
  const auto launch = [&]<bool kOne, bool kBordered>(std::bool_constant<kOne>,
                                                     std::bool_constant<kBordered>) {
    for_block_solve_shape<T, kOne>(params, [&]<class Shape>(Shape) {
      status = launch_block_solve<T, kSwapped, kOne, Shape, kBordered>(problem, stream);
    });
  };
  if (params.rhs > 1)
    launch(std::false_type{}, std::false_type{});
  else if (is_bordered(problem.n, problem.orders != nullptr))
    launch(std::true_type{}, std::true_type{});
  else
    launch(std::true_type{}, std::false_type{});
  return status;
}

template <class T, bool kSwapped>
bool can_run_block_solve_stored(const BlockSolveParams& params, int64_t n,
                                const DeviceLimits& device) {
  if (params.mma && !device.multiplies_by_tensor<T>()) return false;
  bool fits = false;
  const auto check = [&]<bool kOne>(std::bool_constant<kOne>) {
    for_block_solve_shape<T, kOne>(params, [&]<class Shape>(Shape) {
      const int64_t bytes = BlockSolveLayout<T, kSwapped, kOne, Shape>::bytes(static_cast<int>(n));
      fits = bytes <= device.block_bytes;
    });
  };
  if (params.rhs > 1)
    check(std::false_type{});
  else
    check(std::true_type{});
  return fits;
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_BLOCK_SOLVE(kSwapped, T)                                 \
  template chol::Status chol::cuda::run_block_solve_stored<T, kSwapped>(          \
      const BatchProblem<T>&, const chol::cuda::BlockSolveParams&, cudaStream_t); \
  template bool chol::cuda::can_run_block_solve_stored<T, kSwapped>(              \
      const chol::cuda::BlockSolveParams&, int64_t, const chol::cuda::DeviceLimits&);
