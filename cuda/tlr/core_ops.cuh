// Factorizations of cores: see core.cuh and held_core.cuh.
#pragma once

#include "tlr/device_ops.cuh"

namespace chol::cuda::tlr {

template <class T, int kBlocks>
__global__ void __launch_bounds__(kCoreThreads)
    cores_kernel(const CoreItem* __restrict__ items, double tolerance, bool wants_errors,
                 CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char memory[];
  const CoreItem item = items[blockIdx.x / kBlocks];
  const CoreResult result =
      CoreFactorization<T, kBlocks>(item, memory).run(tolerance, wants_errors);
  if (threadIdx.x == 0 && blockIdx.x % kBlocks == 0) results[item.place] = result;
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    held_cores_kernel(const CoreItem* __restrict__ items, double tolerance,
                      CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char held_memory[];
  const CoreItem item = items[blockIdx.x / Shape::kBlocks];
  const CoreResult result =
      HeldFactorization<Shape>(item, *reinterpret_cast<HeldMemory<Shape>*>(held_memory))
          .run(tolerance);
  if (threadIdx.x == 0 && blockIdx.x % Shape::kBlocks == 0) results[item.place] = result;
}

/// Cores whose columns registers hold go there, of one block or of a cluster; the others, and those
/// whose errors are asked for, keep them in memory.
template <class T>
void CudaTileOps<T>::factor_cores(std::vector<backend::CoreFactor<T>>& list, double tolerance,
                                  bool wants_errors) {
  using Cores = CoreShapes<D>;
  if (list.empty()) return;
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_clusters = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  std::vector<CoreItem> small, middle, large, alone, together;
  size_t alone_bytes = 0, together_bytes = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const backend::CoreFactor<T>& f = list[i];
    const int rows = static_cast<int>(f.rows), columns = static_cast<int>(f.columns);
    CoreItem item{f.S,
                  f.scratch,
                  f.scratch + f.columns * (f.rows + f.columns),
                  f.T_,
                  f.Q,
                  rows,
                  columns,
                  static_cast<int>(i),
                  true};
    const auto fits = [&](auto shape) {
      return !wants_errors && rows <= decltype(shape)::kMostRows &&
             columns <= decltype(shape)::kMostColumns;
    };
    const int own = (columns + kCoreClusterBlocks - 1) / kCoreClusterBlocks;
    if (fits(typename Cores::Small())) {
      small.push_back(item);
    } else if (fits(typename Cores::Middle())) {
      middle.push_back(item);
    } else if (has_clusters && fits(typename Cores::Large())) {
      large.push_back(item);
    } else if (has_clusters) {
      item.in_shared = CoreMemory<D>::bytes(rows, columns, own, true) <= limit;
      together_bytes =
          std::max(together_bytes, CoreMemory<D>::bytes(rows, columns, own, item.in_shared));
      together.push_back(item);
    } else {
      item.in_shared = CoreMemory<D>::bytes(rows, columns, columns, true) <= limit;
      alone_bytes =
          std::max(alone_bytes, CoreMemory<D>::bytes(rows, columns, columns, item.in_shared));
      alone.push_back(item);
    }
  }
  Buffer<CoreResult> results(static_cast<int64_t>(list.size()), memory());
  const auto launch_cores = [&](const std::vector<CoreItem>& items, auto kernel, int threads,
                                unsigned blocks, size_t bytes, auto... arguments) {
    if (items.empty()) return;
    check(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cores");
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(items.size()) * blocks);
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream_;
    config.attrs = &attribute;
    config.numAttrs = blocks > 1 ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, send(items), tolerance, arguments..., results.get()),
          "cores");
    checked(blocks > 1 ? "cores of clusters" : "cores of blocks");
  };
  const auto launch_held = [&](const std::vector<CoreItem>& items, auto shape) {
    using Shape = decltype(shape);
    launch_cores(items, held_cores_kernel<Shape>, Shape::kThreads, Shape::kBlocks,
                 sizeof(HeldMemory<Shape>));
  };
  launch_held(large, typename Cores::Large());
  launch_held(middle, typename Cores::Middle());
  launch_held(small, typename Cores::Small());
  launch_cores(together, cores_kernel<D, kCoreClusterBlocks>, kCoreThreads, kCoreClusterBlocks,
               together_bytes, wants_errors);
  launch_cores(alone, cores_kernel<D, 1>, kCoreThreads, 1, alone_bytes, wants_errors);
  const CoreResult* const found = read(results.get(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].rank = found[i].rank;
    list[i].is_sufficient = found[i].is_sufficient != 0;
    list[i].error = found[i].error;
    list[i].spike = found[i].spike;
  }
}

}  // namespace chol::cuda::tlr
