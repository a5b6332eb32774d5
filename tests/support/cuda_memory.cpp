// The memory of the first CUDA device, for suites that run on every backend (support/memory.cpp).
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

#include "abi/recording_backend.hpp"

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::abort();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) bool chol_test_is_there() {
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!found) std::puts("SKIPPED: no CUDA device");
  return found;
}

__attribute__((visibility("default"))) void* chol_test_allocate(size_t bytes) {
  void* memory = nullptr;
  require(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}

__attribute__((visibility("default"))) void chol_test_release(void* memory) {
  require(cudaFree(memory), "cudaFree");
}

__attribute__((visibility("default"))) void chol_test_copy(void* to, const void* from,
                                                           size_t bytes) {
  require(cudaDeviceSynchronize(), "before a copy");
  if (bytes > 0) require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

}  // extern "C"
