// Interleaved batches: from a plan to the kernels that carry it out.
#pragma once

#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "interleaved/pack.cuh"
#include "tune/plan.hpp"

namespace chol::cuda {

/// Whether to factor, then to solve, each as the plan of its own says: where the plan of posv says
/// so, or would take one right-hand side along and there are none or several.
inline bool runs_in_two(Routine routine, const Plan& plan, int64_t nrhs) {
  const bool by_warps = plan.method == Method::fused && plan.block == 0;
  const bool of_one = plan.method == Method::panel || (by_warps && plan.threads > 0);
  return routine == Routine::posv && ((by_warps && plan.threads == 0) || (of_one && nrhs != 1));
}

/// Whether the kernels of precision T can run a plan on interleaved matrices of orders up to max_n.
template <class T>
bool accepts_interleaved(Routine routine, const Plan& plan, int64_t max_n);

/// log2 of the chunk, or a shift that gives 0 when one chunk holds the batch, or -1.
int chunk_bits(int64_t chunk, int64_t batch);

/// potrf, potrs, posv that does not run in two, potri and logdet.
template <class T>
Status run_interleaved(Routine routine, InterleavedCall<T> call, const Plan& plan, Real<T>* result,
                       cudaStream_t stream);

}  // namespace chol::cuda
