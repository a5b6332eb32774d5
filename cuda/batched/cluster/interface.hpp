// What drivers call of cluster/kernel.cuh.
#pragma once

#include <cuda_runtime_api.h>

#include "batched/cluster/params.hpp"
#include "common/batch_view.cuh"
#include "common/launch.hpp"

namespace chol::cuda {

/// Factors matrices of any order by a cluster each. NOT_SUPPORTED where the device has no clusters,
/// or no kernel of so many threads at full rate. @param paired whether the bits are those of
/// multi_panel/kernel.cuh, where these are others than those of
/// left_looking/kernel.cuh.
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
