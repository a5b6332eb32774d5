// Vectors in the memory of a backend, and properties of that memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#ifdef CHOL_BENCH_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace chol::bench {

/// Ones, in host memory or on the current device.
class Vectors {
 public:
  Vectors(int64_t count, bool on_device) : host_(static_cast<size_t>(count), 1.) {
    elements_ = host_.data();
    if (!on_device) return;
#ifdef CHOL_BENCH_WITH_CUDA
    void* memory = nullptr;
    const size_t bytes = host_.size() * sizeof(double);
    if (cudaMalloc(&memory, bytes) != cudaSuccess ||
        cudaMemcpy(memory, elements_, bytes, cudaMemcpyHostToDevice) != cudaSuccess)
      throw std::runtime_error("no device memory for vectors");
    elements_ = static_cast<double*>(memory);
#else
    throw std::runtime_error("built without CUDA");
#endif
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;
  ~Vectors() {
#ifdef CHOL_BENCH_WITH_CUDA
    if (elements_ != host_.data()) cudaFree(elements_);
#endif
  }
  double* data() const { return elements_; }

 private:
  std::vector<double> host_;
  double* elements_;
};

/// Bytes of device memory in use by all processes; 0 without a device.
inline double device_bytes_in_use() {
#ifdef CHOL_BENCH_WITH_CUDA
  size_t free = 0, all = 0;
  if (cudaMemGetInfo(&free, &all) == cudaSuccess) return double(all - free);
#endif
  return 0;
}

/// Bytes a second read and written by a copy within device memory; 0 without a device.
inline double device_copy_bandwidth() {
  double best = 0;
#ifdef CHOL_BENCH_WITH_CUDA
  constexpr int64_t kCount = int64_t{1} << 28;
  const Vectors from(kCount, true), to(kCount, true);
  cudaEvent_t begun = nullptr, ended = nullptr;
  cudaEventCreate(&begun);
  cudaEventCreate(&ended);
  for (int repetition = 0; repetition < 5; ++repetition) {
    float ms = 0;
    cudaEventRecord(begun);
    cudaMemcpyAsync(to.data(), from.data(), sizeof(double) * kCount, cudaMemcpyDeviceToDevice);
    cudaEventRecord(ended);
    if (cudaEventSynchronize(ended) == cudaSuccess &&
        cudaEventElapsedTime(&ms, begun, ended) == cudaSuccess && ms > 0)
      best = std::max(best, 2e3 * sizeof(double) * double(kCount) / double(ms));
  }
  cudaEventDestroy(begun);
  cudaEventDestroy(ended);
#endif
  return best;
}

}  // namespace chol::bench
