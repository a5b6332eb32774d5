// The launches of register/vbatched_kernel.cuh.
#pragma once

#include "batched/register/interface.hpp"
#include "batched/register/vbatched_kernel.cuh"

namespace chol::cuda {

/// Matrices of a block: few enough that all resident blocks have some, and in large batches enough
/// to fill warps of every class.
template <class Shape>
int share_of_block(int64_t count) {
  const int64_t at_once = device_attribute(cudaDevAttrMultiProcessorCount) * Shape::kBlocks;
  const int64_t rounds = (count + at_once * Shape::kShare - 1) / (at_once * Shape::kShare);
  return static_cast<int>((count + at_once * rounds - 1) / (at_once * rounds));
}

template <class T, bool kSwapped>
Status run_vbatched_register_stored(const BatchProblem<T>& problem, cudaStream_t stream) {
  using Shape = VbatchedRegisterShape<T>;
  const int share = share_of_block<Shape>(problem.count);
  return launch("vbatched register", vbatched_register_kernel<T, kSwapped, Shape>,
                static_cast<unsigned>((problem.count + share - 1) / share), 32 * Shape::kWarps, 0,
                stream, problem, share);
}
}  // namespace chol::cuda

#define CHOL_INSTANTIATE_VBATCHED_REGISTER(swapped, T)                        \
  template chol::Status chol::cuda::run_vbatched_register_stored<T, swapped>( \
      const BatchProblem<T>&, cudaStream_t);
