// Interleaved batches, as bench_interleaved times and profile_device runs them.
#pragma once

#include "device_input.hpp"

namespace chol::bench {

/// Column-major matrices back to back, a few hundred different ones repeated, and the same packed.
template <class T>
struct PackedBatch {
  int64_t n, chunk, count;
  size_t elements;
  DeviceArray<T> matrices, master, work, rhs, solution;
  DeviceArray<int> info;

  PackedBatch(int64_t n_, int64_t chunk_, int64_t count_)
      : n(n_),
        chunk(chunk_ > 0 ? chunk_ : count_),
        count(count_),
        elements(size_t(n * n * chunk * ((count + chunk - 1) / chunk))),
        matrices(n * n * count),
        master(elements),
        work(elements),
        rhs(elements / n),
        solution(elements / n),
        info(count) {
    fill(matrices, random_matrices<T>(n, count, 1 << 18), matrices.size());
    std::vector<T> some(1 << 16);
    std::mt19937_64 engine(n);
    for (T& x : some) x = test::random_element<T>(engine);
    fill(rhs, some, rhs.size());
    fill(master, some, elements);
    ours(test::pack_of(T{})(handle, CHOL_LOWER, n, matrices.data(), n, n * n, master.data(), n,
                            chunk, count));
  }
  void restore() const {
    CHOL_TEST_CUDA(cudaMemcpyAsync(work.data(), master.data(), sizeof(T) * elements,
                                   cudaMemcpyDeviceToDevice, stream));
    CHOL_TEST_CUDA(cudaMemcpyAsync(solution.data(), rhs.data(), sizeof(T) * rhs.size(),
                                   cudaMemcpyDeviceToDevice, stream));
  }
  void potrf() const {
    ours(test::potrf_interleaved_of(T{})(handle, CHOL_LOWER, n, work.data(), n, chunk, info.data(),
                                         count));
  }
  void potrs() const {
    ours(test::potrs_interleaved_of(T{})(handle, CHOL_LOWER, n, 1, work.data(), n, solution.data(),
                                         n, chunk, count));
  }
  void posv() const {
    ours(test::posv_interleaved_of(T{})(handle, CHOL_LOWER, n, 1, work.data(), n, solution.data(),
                                        n, chunk, info.data(), count));
  }
};

}  // namespace chol::bench
