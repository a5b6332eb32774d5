// Interleaved batches: from a plan to the kernels that carry it out.
#pragma once

#include "common/launch.hpp"
#include "interleaved/call.cuh"
#include "interleaved/jit/accepts.hpp"
#include "interleaved/pack.cuh"

namespace chol::cuda {

/// Whether to factor, then to solve, each as the plan of its own says: where the plan of posv says
/// so, or would take one right-hand side along and there are none or several.
inline bool runs_in_two(Routine routine, const Plan& plan, int64_t nrhs) {
  const bool of_one = plan.method == Method::panel || is_warp_factor(plan);
  return routine == Routine::posv && (of_one ? nrhs != 1 : is_by_warps(plan));
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
