#include "preload/device.hpp"

#include <dlfcn.h>

namespace chol::preload {
namespace {

// The part of the driver's cuda.h that is used.
using CurrentDevice = int(int* device);
using DeviceAttribute = int(int* value, int attribute, int device);
using IsCapturing = int(void* stream, int* status);
using SetInts = int(unsigned long long address, unsigned value, size_t count, void* stream);
constexpr int kSuccess = 0;

struct Driver {
  CurrentDevice* current_device = nullptr;
  DeviceAttribute* device_attribute = nullptr;
  IsCapturing* is_capturing = nullptr;
  SetInts* set_ints = nullptr;
};

/// The driver that the process has loaded.
const Driver& driver() {
  static const Driver found = [] {
    Driver look;
    if (void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) {
      look.current_device = reinterpret_cast<CurrentDevice*>(dlsym(library, "cuCtxGetDevice"));
      look.device_attribute =
          reinterpret_cast<DeviceAttribute*>(dlsym(library, "cuDeviceGetAttribute"));
      look.is_capturing = reinterpret_cast<IsCapturing*>(dlsym(library, "cuStreamIsCapturing"));
      look.set_ints = reinterpret_cast<SetInts*>(dlsym(library, "cuMemsetD32Async"));
    }
    return look;
  }();
  return found;
}

struct StreamHandle {
  int device = 0;
  void* stream = nullptr;
  chol_handle_t handle = nullptr;
};

// Never destroyed: CUDA may be unloaded before the last destructors run.
constexpr int kMostStreams = 64;
StreamHandle handles[kMostStreams];
int next_victim = 0;
std::mutex handles_mutex;

StreamHandle& slot_for(int device, void* stream) {
  for (StreamHandle& known : handles)
    if (known.handle && known.device == device && known.stream == stream) return known;
  for (StreamHandle& free : handles)
    if (!free.handle) return free;
  // Freeing workspace waits for the work that uses it.
  StreamHandle& victim = handles[next_victim++ % kMostStreams];
  chol_destroy(victim.handle);
  victim.handle = nullptr;
  return victim;
}

}  // namespace

DeviceLease::DeviceLease(void* stream) {
  const Driver& cuda = driver();
  int device = 0, capturing = 0;
  if (!cuda.current_device || !cuda.is_capturing || !cuda.set_ints ||
      cuda.current_device(&device) != kSuccess ||
      cuda.is_capturing(stream, &capturing) != kSuccess || capturing != 0)
    return;
  lock_ = std::unique_lock<std::mutex>(handles_mutex);
  StreamHandle& slot = slot_for(device, stream);
  if (!slot.handle) {
    if (chol_create_on(&slot.handle, CHOL_BACKEND_CUDA, 1, &device) != CHOL_STATUS_SUCCESS) return;
    chol_set_stream(slot.handle, stream);
    slot.device = device;
    slot.stream = stream;
  }
  handle_ = slot.handle;
}

int device_capability() {
  constexpr int kCapabilityMajor = 75;
  const Driver& cuda = driver();
  int device = 0, major = 0;
  const bool known = cuda.current_device && cuda.device_attribute &&
                     cuda.current_device(&device) == kSuccess &&
                     cuda.device_attribute(&major, kCapabilityMajor, device) == kSuccess;
  return known ? major : 0;
}

bool clear_on_stream(int* value, void* stream) {
  const auto address = reinterpret_cast<unsigned long long>(value);
  return driver().set_ints && driver().set_ints(address, 0, 1, stream) == kSuccess;
}

}  // namespace chol::preload
