// Memory of the arrays of a call. The suites access memory through this interface only, so that
// they run on device arrays if there is device memory.
#pragma once

#include <cstddef>
#include <vector>

#include "chol.h"

namespace chol::test {

/// The end of an allocation that is adjacent to inaccessible memory: accesses past that end crash.
enum class Edge { start, end };

class Memory {
 public:
  virtual ~Memory() = default;
  virtual const char* name() const = 0;
  /// Whether this machine has it; otherwise the suites skip their cases.
  virtual bool available() const = 0;
  /// The backend for arrays in this memory.
  virtual chol_backend_t backend() const = 0;

  /// `bytes` whose `edge` is exactly the edge of the mapping.
  virtual void* allocate(size_t bytes, Edge edge) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
};

Memory& host_memory();
/// Available if CHOL_TEST_DEVICE names a library that provides it.
Memory& device_memory();

/// Memory that is freed with this object.
class Block {
 public:
  Block(Memory& memory, size_t bytes, Edge edge)
      : memory_(memory), bytes_(bytes), address_(memory.allocate(bytes, edge)) {}
  template <class T>
  Block(Memory& memory, const std::vector<T>& values, Edge edge)
      : Block(memory, values.size() * sizeof(T), edge) {
    upload(values.data());
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { memory_.release(address_); }

  void upload(const void* from) { memory_.upload(address_, from, bytes_); }
  void download(void* to) const { memory_.download(to, address_, bytes_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(address_);
  }

 private:
  Memory& memory_;
  size_t bytes_;
  void* address_;
};

}  // namespace chol::test
