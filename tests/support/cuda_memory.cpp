// The memory of the first CUDA device, for suites that run on every backend (support/memory.cpp).
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "abi/recording_backend.hpp"

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::abort();
}

/// Free blocks by size: a test allocates ten arrays a call, and cudaMalloc takes longer than the
/// call. Sizes are powers of two.
std::map<size_t, std::vector<void*>> free_blocks;
std::map<void*, size_t> sizes;

size_t rounded(size_t bytes) {
  size_t size = 256;
  while (size < bytes) size *= 2;
  return size;
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
  const size_t size = rounded(bytes);
  std::vector<void*>& unused = free_blocks[size];
  void* memory = nullptr;
  if (unused.empty()) {
    require(cudaMalloc(&memory, size), "cudaMalloc");
    sizes[memory] = size;
  } else {
    memory = unused.back();
    unused.pop_back();
  }
  return memory;
}

__attribute__((visibility("default"))) void chol_test_release(void* memory) {
  free_blocks[sizes.at(memory)].push_back(memory);
}

__attribute__((visibility("default"))) void chol_test_copy(void* to, const void* from,
                                                           size_t bytes) {
  require(cudaDeviceSynchronize(), "before a copy");
  if (bytes > 0) require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

}  // extern "C"
