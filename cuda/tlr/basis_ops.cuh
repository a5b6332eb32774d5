// Bases of samples and truncated projections: see basis.cuh.
#pragma once

#include "tlr/core_ops.cuh"

namespace chol::cuda::tlr {

template <class T, int kBlocks>
__global__ void __launch_bounds__(kBlockedThreads)
    blocked_bases_kernel(const BasisItem* __restrict__ items, CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char blocked_memory[];
  const BasisItem item = items[blockIdx.x / kBlocks];
  const CoreResult result = BlockedBasis<T, kBlocks>(item, blocked_memory).run();
  if (threadIdx.x == 0 && blockIdx.x % kBlocks == 0) results[item.core.place] = result;
}

template <class T, int kBlocks>
__global__ void __launch_bounds__(kCoreThreads)
    large_bases_kernel(const BasisItem* __restrict__ items, CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char memory[];
  const BasisItem item = items[blockIdx.x / kBlocks];
  const CoreResult result = LargeBasis<T, kBlocks>(item, memory).run();
  if (threadIdx.x == 0 && blockIdx.x % kBlocks == 0) results[item.core.place] = result;
}

/// Short lists use more blocks per item than the columns require. Items without `work` in memory
/// get it if their columns exceed the shared memory.
template <class T>
const CoreResult* CudaTileOps<T>::find_bases(std::vector<BasisItem> items) {
  const Buffer<CoreResult> results(std::ssize(items), memory());
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_clusters = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
  const size_t kinds = has_clusters ? 4 : 1;
  std::array<CoreClass<BasisItem>, 4> blocked;  // for 1, 2, 4 and 8 blocks
  CoreClass<BasisItem> large;
  std::vector<Buffer<T>> work;
  for (size_t i = 0; i < items.size(); ++i) {
    BasisItem& item = items[i];
    CoreItem& core = item.core;
    core.place = static_cast<int>(i);
    const auto bytes = [&](size_t cluster) {
      return BlockedCoreMemory<D>::bytes(core.rows, core.columns, item.tests, 1 << cluster);
    };
    size_t cluster = 0;
    while (cluster < kinds && bytes(cluster) > limit) ++cluster;
    if (cluster < kinds && core.columns <= kMostBlockedColumns) {
      while (cluster + 1 < kinds && core.columns > kTileColumns << cluster &&
             std::ssize(items) << (cluster + 1) <= multiprocessors)
        ++cluster;
      blocked[cluster].add(item, bytes(cluster));
      continue;
    }
    const int blocks = has_clusters ? kCoreClusterBlocks : 1;
    const int own = (core.columns + blocks - 1) / blocks;
    core.in_shared = CoreMemory<D>::bytes(core.rows, core.columns, own, true) <= limit;
    if (!core.in_shared && !core.work) {
      work.push_back(this->buffer(int64_t{core.rows} * core.columns));
      core.work = work.back().get();
    }
    large.add(item, CoreMemory<D>::bytes(core.rows, core.columns, own, core.in_shared));
  }
  launch_cores(blocked[3], blocked_bases_kernel<D, 8>, kBlockedThreads, 8, results.get());
  launch_cores(blocked[2], blocked_bases_kernel<D, 4>, kBlockedThreads, 4, results.get());
  launch_cores(blocked[1], blocked_bases_kernel<D, 2>, kBlockedThreads, 2, results.get());
  launch_cores(blocked[0], blocked_bases_kernel<D, 1>, kBlockedThreads, 1, results.get());
  if (has_clusters)
    launch_cores(large, large_bases_kernel<D, kCoreClusterBlocks>, kCoreThreads, kCoreClusterBlocks,
                 results.get());
  else
    launch_cores(large, large_bases_kernel<D, 1>, kCoreThreads, 1, results.get());
  return read(results.get(), items.size());
}

template <class T>
void CudaTileOps<T>::orthonormalize(std::vector<backend::Orthonormalization<T>>& list) {
  if (list.empty()) return;
  int64_t elements = 0;
  for (const auto& item : list) elements += item.columns * item.columns;
  const Buffer<T> factors = this->buffer(elements);
  T* factor = factors.get();
  std::vector<BasisItem> items;
  for (const auto& item : list) {
    items.push_back({{item.Y, nullptr, factor, nullptr, item.Q, static_cast<int>(item.rows),
                      static_cast<int>(item.columns), 0, false},
                     static_cast<int>(item.tests),
                     double(item.enough)});
    factor += item.columns * item.columns;
  }
  const CoreResult* const found = find_bases(std::move(items));
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].rank = found[i].rank;
    list[i].residual = found[i].error;
  }
}

/// B P = V R, with V truncated by the norms of the remaining columns: Q B^H is approximately
/// (Q R^H) V^H. This is the second factorization of a pivoted QLP decomposition (Stewart 1999); the
/// basis of the samples is the first. If no such V exists (B is not finite), no rank is sufficient.
template <class T>
void CudaTileOps<T>::truncate(std::vector<backend::Truncation<T>>& list) {
  if (list.empty()) return;
  std::vector<BasisItem> items;
  for (const auto& item : list)
    items.push_back({{item.B, item.B, item.scratch, nullptr, item.V, static_cast<int>(item.b_rows),
                      static_cast<int>(item.columns), 0, false},
                     0,
                     double(item.tolerance)});
  const CoreResult* const found = find_bases(std::move(items));
  backend::ProductGroups<T> products;
  for (size_t i = 0; i < list.size(); ++i) {
    backend::Truncation<T>& item = list[i];
    item.rank = found[i].is_sufficient ? found[i].rank : std::max(item.q_rows, item.b_rows);
    item.dropped = found[i].error;
    item.largest = found[i].spike;
    if (!found[i].is_sufficient || item.rank == 0) continue;
    products.begin_group();
    products.add({false, true, 0, item.q_rows, item.rank, item.columns, item.Q, item.q_rows,
                  item.scratch, item.columns, item.U, item.q_rows});
  }
  multiply(products);
}

}  // namespace chol::cuda::tlr
