// Interface of cluster/kernel.cuh.
#pragma once

#include <cuda_runtime_api.h>

#include "batched/cluster/params.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Factors matrices of any order, one cluster a matrix. NOT_SUPPORTED where the device has no
/// clusters, or no kernel with that many threads runs at full rate. @param paired whether to give
/// the bits of multi_panel/kernel.cuh, where they differ from those of left_looking/kernel.cuh.
template <class T, bool kSwapped>
Status run_clusters_stored(const BatchProblem<T>& problem, ClusterPlan plan, bool paired,
                           cudaStream_t stream);
template <class T>
Status run_clusters(const BatchProblem<T>& problem, ClusterPlan plan, bool paired,
                    cudaStream_t stream) {
  return problem.swapped ? run_clusters_stored<T, true>(problem, plan, paired, stream)
                         : run_clusters_stored<T, false>(problem, plan, paired, stream);
}

}  // namespace chol::cuda
