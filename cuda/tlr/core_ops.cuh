// Factorizations of cores: see core.cuh and blocked_core.cuh.
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

template <class T, int kBlocks>
__global__ void __launch_bounds__(kBlockedThreads)
    blocked_cores_kernel(const CoreItem* __restrict__ items, double tolerance,
                         CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char blocked_memory[];
  const CoreItem item = items[blockIdx.x / kBlocks];
  const CoreResult result = BlockedCore<T, kBlocks>(item, tolerance, blocked_memory).run();
  if (threadIdx.x == 0 && blockIdx.x % kBlocks == 0) results[item.place] = result;
}

/// Launches one block or cluster per item.
template <class T>
template <class Item, class Kernel, class... Arguments>
void CudaTileOps<T>::launch_cores(const CoreClass<Item>& cores, Kernel kernel, int threads,
                                  unsigned blocks, Arguments... arguments) {
  if (cores.items.empty()) return;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(cores.bytes)),
        "cores");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {blocks, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(cores.items.size()) * blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = cores.bytes;
  config.stream = stream_;
  config.attrs = &attribute;
  config.numAttrs = blocks > 1 ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, send(cores.items), arguments...), "cores");
  checked("cores");
}

/// Cores whose columns fit in shared memory are factored there, by one block or a cluster. The
/// others, and those whose errors are requested, are factored one pivot at a time.
template <class T>
void CudaTileOps<T>::begin_cores(const std::vector<backend::CoreFactor<T>>& list, double tolerance,
                                 bool wants_errors) {
  CoreRound round{Buffer<CoreResult>(std::ssize(list), memory()), list.size()};
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_clusters = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  CoreClass<CoreItem> small, together, alone;
  std::array<CoreClass<CoreItem>, 4> blocked;  // for 1, 2, 4 and 8 blocks
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
    const size_t one = BlockedCoreMemory<D>::bytes(rows, columns, 0, 1);
    size_t cluster = 0, needed = one;
    while (needed > limit && ++cluster < blocked.size())
      needed = BlockedCoreMemory<D>::bytes(rows, columns, 0, 1 << cluster);
    const bool is_blocked = !wants_errors && columns <= kMostBlockedColumns &&
                            cluster < (has_clusters ? blocked.size() : 1);
    const int own =
        has_clusters ? (columns + kCoreClusterBlocks - 1) / kCoreClusterBlocks : columns;
    if (is_blocked && 3 * one <= limit) {
      small.add(item, one);
    } else if (is_blocked) {
      blocked[cluster].add(item, needed);
    } else {
      item.in_shared = CoreMemory<D>::bytes(rows, columns, own, true) <= limit;
      (has_clusters ? together : alone)
          .add(item, CoreMemory<D>::bytes(rows, columns, own, item.in_shared));
    }
  }
  const auto launch = [&](const CoreClass<CoreItem>& cores, auto kernel, int threads,
                          unsigned blocks, auto... arguments) {
    launch_cores(cores, kernel, threads, blocks, tolerance, arguments..., round.results.get());
  };
  if (!blocked[2].items.empty() || !blocked[3].items.empty()) {
    // The largest cores take as long as all others together.
    const Strand& strand = store_.strand(Store::cores);
    check(cudaEventRecord(strand.begun, stream_), "cores");
    check(cudaStreamWaitEvent(strand.stream, strand.begun, 0), "cores");
    {
      const OnStream beside(stream_, strand.stream);
      launch(blocked[3], blocked_cores_kernel<D, 8>, kBlockedThreads, 8);
      launch(blocked[2], blocked_cores_kernel<D, 4>, kBlockedThreads, 4);
    }
    check(cudaEventRecord(strand.ended, strand.stream), "cores");
    round.is_beside = true;
  }
  launch(blocked[1], blocked_cores_kernel<D, 2>, kBlockedThreads, 2);
  launch(blocked[0], blocked_cores_kernel<D, 1>, kBlockedThreads, 1);
  launch(small, blocked_cores_kernel<D, 1>, kBlockedThreads, 1);
  launch(together, cores_kernel<D, kCoreClusterBlocks>, kCoreThreads, kCoreClusterBlocks,
         wants_errors);
  launch(alone, cores_kernel<D, 1>, kCoreThreads, 1, wants_errors);
  if (round.is_beside)
    check(cudaStreamWaitEvent(stream_, store_.strand(Store::cores).ended, 0), "cores");
  core_rounds_.push_back(std::move(round));
}

template <class T>
void CudaTileOps<T>::end_cores(std::vector<backend::CoreFactor<T>>& list) {
  const CoreRound round = std::move(core_rounds_.front());
  core_rounds_.pop_front();
  const CoreResult* const found = read(round.results.get(), round.count);
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].rank = found[i].rank;
    list[i].is_sufficient = found[i].is_sufficient != 0;
    list[i].error = found[i].error;
    list[i].spike = found[i].spike;
  }
}

}  // namespace chol::cuda::tlr
