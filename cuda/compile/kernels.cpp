#include "compile/kernels.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>

#include "base/environment.hpp"
#include "chol.h"
#include "common/launch.hpp"
#include "compile/cache.hpp"
#include "compile/code.hpp"
#include "compile/nvrtc.hpp"

namespace chol::cuda {
namespace {

#if CUDART_VERSION >= 12080
/// Loading a module is not work on a stream, so it is allowed during a capture.
class OutsideCapture {
 public:
  OutsideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~OutsideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  OutsideCapture(const OutsideCapture&) = delete;
  OutsideCapture& operator=(const OutsideCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

Status load(const Cubin& cubin, const void** kernel) {
  const OutsideCapture outside;
  cudaLibrary_t library = nullptr;
  const Status status = status_of(
      cudaLibraryLoadData(&library, cubin.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading a compiled kernel");
  if (!status.ok()) return status;
  cudaKernel_t found = nullptr;
  cudaError_t error = cudaLibraryGetKernel(&found, library, cubin.symbol.c_str());
  // With lazy loading the first use would load it; force that here.
  cudaFuncAttributes attributes{};
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(found));
  if (error == cudaSuccess)
    *kernel = reinterpret_cast<const void*>(found);
  else
    cudaLibraryUnload(library);
  return status_of(error, "finding a compiled kernel");
}
#else
Status load(const Cubin&, const void**) {
  return Status::error(CHOL_STATUS_NOT_SUPPORTED, "built with CUDA before 12.8");
}
#endif

Status make_kernel(const KernelRequest& request, const void** kernel) {
  const std::string folder = cache_folder();
  Cubin cubin;
  bool found = false;
  Status status = obtain_cubin(folder, request, cubin, found);
  if (status.ok()) status = load(cubin, kernel);
  if (status.ok() || !found) return status;
  // The file is intact but the driver rejects it.
  status = compile(request, cubin);
  if (!status.ok()) return status;
  store_cubin(folder, request_key(request), cubin);
  return load(cubin, kernel);
}

/// One line a kernel; a missing compiler is reported once.
void report(const KernelRequest& request, const Status& status, double seconds) {
  if (!environment().verbose) return;
  static std::atomic<bool> said = false;
  if (status.ok())
    std::fprintf(stderr, "# chol: %s ready after %.1f s\n", request.name.c_str(), seconds);
  else if (status.code() != CHOL_STATUS_NOT_SUPPORTED || !said.exchange(true))
    std::fprintf(stderr, "# chol: %s: a built kernel is used instead\n", status.message());
}

/// Kernels are compiled outside the global lock, so that existing ones are not blocked.
struct Entry {
  std::once_flag made;
  const void* kernel = nullptr;
};
Entry& entry_of(const KernelRequest& request) {
  struct Known {
    std::mutex mutex;
    std::map<std::pair<std::string, int>, Entry> entries;
  };
  // Never destroyed: the runtime may be unloaded before the last destructors run.
  static Known& known = *new Known;
  const std::lock_guard<std::mutex> lock(known.mutex);
  return known.entries[{request.name, request.capability}];
}

}  // namespace

const void* compiled_kernel(const KernelRequest& request) {
  Entry& entry = entry_of(request);
  std::call_once(entry.made, [&] {
    const auto start = std::chrono::steady_clock::now();
    const Status status = make_kernel(request, &entry.kernel);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    report(request, status, spent.count());
  });
  return entry.kernel;
}

}  // namespace chol::cuda
