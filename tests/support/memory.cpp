#include "support/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <new>

namespace chol::test {
namespace {

/// Whole pages between two pages that trap.
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
  void upload(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

 private:
  const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::map<void*, std::pair<void*, size_t>> mappings_;
};

/// The seam for device arrays: no device memory is built in.
class DeviceMemory final : public Memory {
 public:
  const char* name() const override { return "device"; }
  bool available() const override { return false; }
  chol_backend_t backend() const override { return CHOL_BACKEND_CUDA; }
  void* allocate(size_t, Edge) override { throw std::bad_alloc(); }
  void release(void*) override {}
  void upload(void*, const void*, size_t) override {}
  void download(void*, const void*, size_t) override {}
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
