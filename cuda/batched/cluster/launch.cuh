// The launches of cluster/kernel.cuh.
#pragma once

#include "batched/cluster/interface.hpp"
#include "batched/cluster/kernel.cuh"
#include "batched/cluster/shapes.hpp"
#include "batched/multi_panel/shapes.hpp"
#include "common/tensor_cores.hpp"

namespace chol::cuda {

/// Options of the multi-panel kernels with tensor cores, as in clusters.
template <class... Wide>
constexpr bool come_in_pairs(ShapeList<Wide...>) {
  return ((Wide::kBy != ProductBy::tensor || Wide::kParts * Wide::kColumnGroups == 2) && ...);
}

template <class T, bool kSwapped, class Shape>
Status launch_clusters(const BatchProblem<T>& problem, int blocks, bool paired,
                       cudaStream_t stream) {
  constexpr const char* kName = "clusters";
  constexpr size_t kBytes = ClusterLeftLooking<T, kSwapped, Shape>::kBytes;
  const auto kernel = cluster_left_looking_kernel<T, kSwapped, Shape>;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(kBytes));
  if (error != cudaSuccess) return status_of(error, kName);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(problem.count * blocks));
  config.blockDim = dim3(32 * Shape::kWarps);
  config.dynamicSmemBytes = kBytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return status_of(cudaLaunchKernelEx(&config, kernel, problem, paired), kName);
}

template <class T, bool kSwapped>
Status run_clusters_stored(const BatchProblem<T>& problem, ClusterPlan plan, bool paired,
                           cudaStream_t stream) {
  static_assert(!Traits<T>::is_complex || come_in_pairs(WideShapes<T, kSwapped>{}));
  const bool can = device_attribute(cudaDevAttrClusterLaunch) != 0 && multiplies_by_tensor<T>();
  const auto limit = static_cast<size_t>(block_shared_limit());
  Status status;
  const auto try_shape = [&]<class S>(S) {
    if (plan.threads != 32 * S::kWarps || ClusterLeftLooking<T, kSwapped, S>::kBytes > limit)
      return false;
    status = launch_clusters<T, kSwapped, S>(problem, plan.blocks, paired, stream);
    return true;
  };
  const bool found = can && [&]<class... S>(ShapeList<S...>) {
    return (try_shape(S{}) || ...);
  }(ClusterList<T, kSwapped>{});
  return found ? status
               : Status::error(Status::kNotSupported, "clusters: no kernel of %d threads here",
                               plan.threads);
}

}  // namespace chol::cuda

#define CHOL_INSTANTIATE_CLUSTERS(swapped, T)                        \
  template chol::Status chol::cuda::run_clusters_stored<T, swapped>( \
      const BatchProblem<T>&, chol::cuda::ClusterPlan, bool, cudaStream_t);
