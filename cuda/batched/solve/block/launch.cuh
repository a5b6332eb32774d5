// The launches of solve/block/kernel.cuh.
#pragma once

#include "batched/solve/block/interface.hpp"
#include "batched/solve/block/kernel.cuh"
#include "batched/solve/grid.hpp"
#include "common/alignment.hpp"
#include "common/tensor_cores.hpp"

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
Status run_block_solve_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  Status status;
  const bool has_tensor = multiplies_by_tensor<T>();
  const bool misaligned = !kSwapped && is_misaligned(problem);
  const bool bordered = !problem.orders && has_border(problem.n);
  const auto launch = [&]<bool kOne, bool kBordered>(std::bool_constant<kOne>,
                                                     std::bool_constant<kBordered>) {
    for_block_solve_shape<T, kOne>(
        problem.n, has_tensor, misaligned, kBordered, [&]<class Shape>(Shape) {
          status = launch_block_solve<T, kSwapped, kOne, Shape, kBordered>(problem, stream);
        });
  };
  if (problem.nrhs > 1)
    launch(std::false_type{}, std::false_type{});
  else if (bordered)
    launch(std::true_type{}, std::true_type{});
  else
    launch(std::true_type{}, std::false_type{});
  return status;
}

/// What a matrix takes of shared memory bounds the order.
template <class T, bool kSwapped, bool kOne>
int block_solve_limit_of() {
  int n = most_block_solve<T, kOne>();
  const bool has_tensor = multiplies_by_tensor<T>();
  const auto fits = [&] {
    bool found = false;
    for_block_solve_shape<T, kOne>(n, has_tensor, false, false, [&]<class Shape>(Shape) {
      found = int64_t(BlockSolveLayout<T, kSwapped, kOne, Shape>::bytes(n)) <= block_shared_limit();
    });
    return found;
  };
  while (n > 0 && !fits()) n -= 16;
  return n;
}
template <class T, bool kSwapped>
int block_solve_limit_stored(int64_t nrhs) {
  return nrhs == 1 ? block_solve_limit_of<T, kSwapped, true>()
                   : block_solve_limit_of<T, kSwapped, false>();
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_BLOCK_SOLVE(kSwapped, T)                                               \
  template chol::Status chol::cuda::run_block_solve_stored<T, kSwapped>(const BatchProblem<T>&, \
                                                                        cudaStream_t);          \
  template int chol::cuda::block_solve_limit_stored<T, kSwapped>(int64_t);
