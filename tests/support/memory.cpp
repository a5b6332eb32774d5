#include "support/memory.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <vector>

#include "abi/recording_backend.hpp"

namespace chol::test {
namespace {

void copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// Full pages between two inaccessible pages. Released ones are inaccessible until they are used
/// again: mapping new pages for every array would take a third of the time of the suites.
class HostMemory final : public Memory {
 public:
  const char* name() const override { return "host"; }
  bool available() const override { return true; }
  chol_backend_t backend() const override { return CHOL_BACKEND_HOST; }

  void* allocate(size_t bytes, Edge edge) override {
    const size_t inner = (bytes + page_ - 1) / page_ * page_, reserved = std::bit_ceil(inner);
    Pages pages{reserve(reserved), reserved, 0, inner};
    if (edge == Edge::end) pages.begin = reserved - inner;
    protect(pages, PROT_READ | PROT_WRITE);
    char* address = pages.reserve + pages.begin + (edge == Edge::end ? inner - bytes : 0);
    used_[address] = pages;
    return address;
  }
  void release(void* memory) override {
    const auto found = used_.find(memory);
    protect(found->second, PROT_NONE);
    free_[found->second.reserved].push_back(found->second.reserve);
    used_.erase(found);
  }
  void upload(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { copy(to, from, bytes); }

 private:
  /// The accessible ones, and the reserve that contains them.
  struct Pages {
    char* reserve;
    size_t reserved, begin, bytes;
  };

  static void protect(const Pages& pages, int access) {
    if (pages.bytes > 0 && mprotect(pages.reserve + pages.begin, pages.bytes, access) != 0)
      throw std::bad_alloc();
  }

  char* reserve(size_t bytes) {
    std::vector<char*>& free = free_[bytes];
    if (free.empty()) {
      void* mapping =
          mmap(nullptr, bytes + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapping == MAP_FAILED) throw std::bad_alloc();
      return static_cast<char*>(mapping) + page_;
    }
    char* reserve = free.back();
    free.pop_back();
    return reserve;
  }

  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::map<void*, Pages> used_;
  std::map<size_t, std::vector<char*>> free_;  ///< by their size, a power of two
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
