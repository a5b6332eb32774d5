#include "support/memory.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "abi/recording_backend.hpp"

namespace chol::test {
namespace {

void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// Full pages between two inaccessible pages.
class HostMemory final : public Memory {
 public:
  const char* name() const override { return "host"; }
  bool available() const override { return true; }
  chol_backend_t backend() const override { return CHOL_BACKEND_HOST; }

  void* allocate(size_t bytes, Edge edge) override {
    const size_t inner = (bytes + page_ - 1) / page_ * page_, total = inner + 2 * page_;
    void* mapping = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    char* first = static_cast<char*>(mapping) + page_;
    if (inner > 0 && mprotect(first, inner, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    char* address = edge == Edge::end ? first + inner - bytes : first;
    mappings_[address] = {mapping, total};
    return address;
  }
  void release(void* memory) override {
    const auto found = mappings_.find(memory);
    munmap(found->second.first, found->second.second);
    mappings_.erase(found);
  }
  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }

 private:
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::map<void*, std::pair<void*, size_t>> mappings_;
};

/// Device arrays in the memory of the library that CHOL_TEST_DEVICE names: a real device
/// (support/cuda_memory.cpp), or a substitute (abi/recording_backend.hpp) in host memory.
class DeviceMemory final : public Memory {
 public:
  DeviceMemory() {
    const char* file = std::getenv("CHOL_TEST_DEVICE");
    void* library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (!library) return;
    allocate_ = reinterpret_cast<AllocateFunction*>(dlsym(library, kAllocateSymbol));
    release_ = reinterpret_cast<ReleaseFunction*>(dlsym(library, kReleaseSymbol));
    if (void* own = dlsym(library, kCopySymbol)) copy_ = reinterpret_cast<CopyFunction*>(own);
    const auto is_there = reinterpret_cast<IsThereFunction*>(dlsym(library, kIsThereSymbol));
    if (is_there && !is_there()) allocate_ = nullptr;
  }
  const char* name() const override { return "device"; }
  bool available() const override { return allocate_ && release_; }
  chol_backend_t backend() const override { return CHOL_BACKEND_CUDA; }
  void* allocate(size_t bytes, Edge) override { return allocate_(bytes); }
  void release(void* memory) override { release_(memory); }
  void upload(void* to, const void* from, size_t bytes) override { copy_(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy_(to, from, bytes); }

 private:
  AllocateFunction* allocate_ = nullptr;
  ReleaseFunction* release_ = nullptr;
  CopyFunction* copy_ = copy;
};

}  // namespace

Memory& host_memory() {
  thread_local HostMemory memory;
  return memory;
}

Memory& device_memory() {
  static DeviceMemory memory;
  return memory;
}

}  // namespace chol::test
