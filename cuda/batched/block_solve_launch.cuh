// The launches of block_solve.cuh.
#pragma once

#include "batched/block_solve.cuh"
#include "batched/block_solve.hpp"
#include "batched/solve_grid.hpp"

namespace chol::cuda {

template <class T, bool kSwapped, bool kOne, int kWarpBlocks>
Status launch_block_solve(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Shape = BlockSolveShape<T, kSwapped, kOne, kWarpBlocks>;
  const int n = static_cast<int>(problem.n);
  const SolveGrid grid(problem.count, problem.nrhs);
  return launch("block solve", block_solve_kernel<T, kSwapped, kOne, kWarpBlocks>, grid.blocks,
                Shape::threads(n), Shape::bytes(n), stream, problem, grid.columns_of_block);
}

template <class T, bool kSwapped>
Status run_block_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  const auto launch = [&]<bool kOne>(std::bool_constant<kOne>) {
    return for_warp_blocks<T, kOne>(
        problem.n, [&]<int kBlocks>(std::integral_constant<int, kBlocks>) {
          return launch_block_solve<T, kSwapped, kOne, kBlocks>(problem, stream);
        });
  };
  return problem.nrhs == 1 ? launch(std::true_type{}) : launch(std::false_type{});
}

/// What a matrix takes of shared memory bounds the order.
template <class T, bool kSwapped>
int block_solve_limit_stored() {
  int n = kMostBlockSolve;
  using Shape = BlockSolveShape<T, kSwapped, false, 1>;
  while (n > 0 && int64_t(Shape::bytes(n)) > block_shared_limit()) n -= 16;
  return n;
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_BLOCK_SOLVE(kSwapped, T)                                               \
  template chol::Status chol::cuda::run_block_solve_stored<T, kSwapped>(const BatchProblem<T>&, \
                                                                        cudaStream_t);          \
  template int chol::cuda::block_solve_limit_stored<T, kSwapped>();
