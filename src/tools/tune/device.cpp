#include "tools/tune/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/symbol.hpp"

namespace chol::tune::device {
namespace {

// cuda.h of the driver, as much of it as is called.
using Address = unsigned long long;
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*count)(int*) = nullptr;
  int (*attribute)(int* value, int which, int device) = nullptr;
  int (*retain)(void** context, int device) = nullptr;
  int (*set_current)(void* context) = nullptr;
  int (*allocate)(Address*, size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*to_device)(Address, const void*, size_t) = nullptr;
  int (*to_host)(void*, Address, size_t) = nullptr;
  int (*copy)(Address, Address, size_t, void* stream) = nullptr;
  int (*make_event)(void**, unsigned) = nullptr;
  int (*drop_event)(void*) = nullptr;
  int (*record)(void* event, void* stream) = nullptr;
  int (*wait)(void* event) = nullptr;
  int (*elapsed)(float* milliseconds, void* begin, void* end) = nullptr;
  int devices = 0;
};

// Names of cuda.h.
enum Attribute {
  kProcessors = 16,
  kCacheBytes = 38,
  kThreads = 39,
  kProcessorMemory = 81,
  kRegisters = 82,
  kBlockMemory = 97,
  kBlocks = 106
};

Driver open_driver() {
  Driver d;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const bool whole = library && find_symbol(library, "cuInit", d.init) &&
                     find_symbol(library, "cuDeviceGetCount", d.count) &&
                     find_symbol(library, "cuDeviceGetAttribute", d.attribute) &&
                     find_symbol(library, "cuDevicePrimaryCtxRetain", d.retain) &&
                     find_symbol(library, "cuCtxSetCurrent", d.set_current) &&
                     find_symbol(library, "cuMemAlloc_v2", d.allocate) &&
                     find_symbol(library, "cuMemFree_v2", d.release) &&
                     find_symbol(library, "cuMemcpyHtoD_v2", d.to_device) &&
                     find_symbol(library, "cuMemcpyDtoH_v2", d.to_host) &&
                     find_symbol(library, "cuMemcpyDtoDAsync_v2", d.copy) &&
                     find_symbol(library, "cuEventCreate", d.make_event) &&
                     find_symbol(library, "cuEventDestroy_v2", d.drop_event) &&
                     find_symbol(library, "cuEventRecord", d.record) &&
                     find_symbol(library, "cuEventSynchronize", d.wait) &&
                     find_symbol(library, "cuEventElapsedTime", d.elapsed);
  if (!whole || d.init(0) != 0 || d.count(&d.devices) != 0) d.devices = 0;
  return d;
}

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

template <class... Parameters, class... Arguments>
void call(const char* doing, int (*function)(Parameters...), Arguments... arguments) {
  constexpr int kNoDevice = 100;
  const int result = function ? function(arguments...) : kNoDevice;
  if (result != 0)
    throw std::runtime_error(std::string(doing) + ": CUDA error " + std::to_string(result));
}

int attribute(Attribute which) {
  int value = 0;
  if (driver().devices > 0 && driver().attribute) driver().attribute(&value, which, 0);
  return value;
}

}  // namespace

bool present() { return driver().devices > 0; }

DeviceModel model() {
  return {attribute(kBlockMemory), attribute(kProcessorMemory), attribute(kRegisters),
          attribute(kThreads), attribute(kBlocks)};
}
int processors() { return attribute(kProcessors); }
int64_t cache_bytes() { return attribute(kCacheBytes); }

void open() {
  if (!present()) throw std::runtime_error("no CUDA device");
  void* context = nullptr;
  call("context", driver().retain, &context, 0);
  call("context", driver().set_current, context);
}

Memory::Memory(size_t bytes) : size_(bytes) {
  call("device memory", driver().allocate, &address_, bytes);
}
Memory::~Memory() {
  if (driver().release) driver().release(address_);
}

void Memory::fill_with(const void* host, size_t bytes) {
  call("copy to the device", driver().to_device, address_, host, std::min(bytes, size_));
  for (size_t filled = bytes; filled < size_; filled *= 2)
    call("copy on the device", driver().copy, address_ + filled, address_,
         std::min(filled, size_ - filled), nullptr);
}
void Memory::read(void* host, size_t bytes, size_t offset) const {
  call("copy from the device", driver().to_host, host, address_ + offset, bytes);
}
void Memory::copy_from(const Memory& other) {
  call("copy on the device", driver().copy, address_, other.address_, size_, nullptr);
}

StopWatch::StopWatch() {
  call("event", driver().make_event, &begin_, 0);
  call("event", driver().make_event, &end_, 0);
}
StopWatch::~StopWatch() {
  if (!driver().drop_event) return;
  driver().drop_event(begin_);
  driver().drop_event(end_);
}
void StopWatch::start() { call("event", driver().record, begin_, nullptr); }
double StopWatch::stop() {
  float milliseconds = 0;
  call("event", driver().record, end_, nullptr);
  call("work on the device", driver().wait, end_);
  call("event", driver().elapsed, &milliseconds, begin_, end_);
  return milliseconds * 1e-3;
}

}  // namespace chol::tune::device
