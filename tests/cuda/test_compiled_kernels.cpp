// The process's cache of compiled kernels, with a CUDA runtime defined in this file: no device.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "compile/cache.hpp"
#include "compile/kernels.hpp"
#include "compile/nvrtc.hpp"
#include "interleaved/jit/request.hpp"
#include "interleaved_choices.hpp"

namespace {

std::atomic<int> loads, refusals, outside;
bool capturing_allowed = false;

}  // namespace

// The functions of the runtime that are used: a library's handle is its code.
extern "C" {

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  capturing_allowed = *mode == cudaStreamCaptureModeRelaxed;
  *mode = capturing_allowed ? cudaStreamCaptureModeGlobal : cudaStreamCaptureModeRelaxed;
  return cudaSuccess;
}
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  if (!capturing_allowed) ++outside;
  if (std::memcmp(code, "\177ELF", 4) != 0) {
    ++refusals;
    return cudaErrorNoKernelImageForDevice;
  }
  *library = reinterpret_cast<cudaLibrary_t>(static_cast<intptr_t>(++loads));
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char*) {
  *kernel = reinterpret_cast<cudaKernel_t>(library);
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaError"; }

}  // extern "C"

namespace chol::cuda {
namespace {

int failures = 0;
void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s\n", what);
}

KernelRequest request(int n) {
  return interleaved_request(Routine::potrf, 's', registers(32), n, {90, 0, 0});
}

void check_with_compiler(const std::string& folder) {
  // An intact file whose content cannot be loaded.
  store_cubin(folder, request_key(request(4)), {"symbol", "no code"});
  expect(compiled_kernel(request(4)) != nullptr, "kernel whose file cannot be loaded");
  Cubin cubin;
  expect(refusals == 1 && load_cubin(folder, request_key(request(4)), cubin) &&
             cubin.code.compare(0, 4, "\177ELF") == 0,
         "unusable file replaced");

  const int before = loads;
  std::vector<const void*> seen(8);
  std::vector<std::thread> threads;
  for (const void*& kernel : seen)
    threads.emplace_back([&kernel] { kernel = compiled_kernel(request(5)); });
  for (std::thread& thread : threads) thread.join();
  bool same = seen[0] != nullptr;
  for (const void* kernel : seen) same = same && kernel == seen[0];
  expect(same && loads == before + 1, "eight threads, one kernel");
  expect(compiled_kernel(request(6)) != seen[0], "another kernel");
  expect(outside == 0, "loaded where a capture may be under way");

  const KernelRequest none{"interleaved/thread/registers.cuh", "chol::cuda::no_kernel<1>", 90};
  expect(!compiled_kernel(none) && !compiled_kernel(none), "a kernel that does not exist");
}

}  // namespace
}  // namespace chol::cuda

int main() {
  using namespace chol::cuda;
  std::string folder = std::filesystem::temp_directory_path() / "chol_kernels_XXXXXX";
  if (!mkdtemp(folder.data())) return 2;
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  if (nvrtc_version() > 0) {
    check_with_compiler(folder + "/chol");
  } else {
    expect(!compiled_kernel(request(4)) && loads == 0, "no compiler, no kernel");
    std::printf("SKIPPED: no libnvrtc\n");
  }
  std::filesystem::remove_all(folder);
  std::printf(failures ? "FAILED: %d\n" : "PASSED\n", failures);
  return failures != 0;
}
