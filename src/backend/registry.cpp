#include "backend/registry.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string>

#include "backend/plugin.hpp"
#include "base/environment.hpp"
#include "host/backend.hpp"

namespace chol::backend {
namespace {

constexpr const char* kCudaPlugin = "libchol_cuda.so.0";

/// The plug-in is in the folder of libchol.so, wherever that is installed.
std::string beside_this_library(const char* file) {
  Dl_info self;
  if (!dladdr(reinterpret_cast<const void*>(&beside_this_library), &self) || !self.dli_fname)
    return file;
  const char* slash = std::strrchr(self.dli_fname, '/');
  return slash ? std::string(self.dli_fname, slash + 1) + file : std::string(file);
}

}  // namespace

void BackendDeleter::operator()(Backend* backend) const {
  delete backend;
  if (library) dlclose(library);
}

Status open_host(BackendPointer& backend) {
  Status status;
  backend = BackendPointer(host::open(status));
  return status;
}

Status open_cuda(int device_count, const int* devices, BackendPointer& backend) {
  const char* named = environment().cuda_plugin;
  const std::string path = named ? named : beside_this_library(kCudaPlugin);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) return Status::error(CHOL_STATUS_NO_DEVICE, "no CUDA backend: %s", dlerror());
  auto* open = reinterpret_cast<OpenFunction*>(dlsym(library, kOpenSymbol));
  Status status;
  Backend* opened = open ? open(kPluginVersion, device_count, devices, &status) : nullptr;
  if (!opened) {
    dlclose(library);
    return open ? status
                : Status::error(CHOL_STATUS_NO_DEVICE, "no CUDA backend: %s is not a chol plug-in",
                                path.c_str());
  }
  backend = BackendPointer(opened, BackendDeleter{library});
  return Status::success();
}

bool device_is_likely() {
  if (environment().cuda_plugin) return true;
  for (const char* driver : {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvgpu"})
    if (access(driver, F_OK) == 0) return true;
  return false;
}

}  // namespace chol::backend
