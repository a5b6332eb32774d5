// Where the arrays of a call live. The suites reach memory through this interface only, so that
// they run on device arrays as soon as a device memory is there.
#pragma once

#include <cstddef>
#include <vector>

#include "chol.h"

namespace chol::test {

/// Which end of an allocation touches memory that traps: reads and writes past that end crash.
enum class Edge { start, end };

class Memory {
 public:
  virtual ~Memory() = default;
  virtual const char* name() const = 0;
  /// Whether this machine has it; the suites skip their cases otherwise.
  virtual bool available() const = 0;
  /// The backend that works on arrays that live here.
  virtual chol_backend_t backend() const = 0;

  /// `bytes` whose `edge` is exactly the edge of the mapping.
  virtual void* allocate(size_t bytes, Edge edge) = 0;
  virtual void release(void* memory) = 0;
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  virtual void download(void* to, const void* from, size_t bytes) = 0;
};

Memory& host_memory();
/// Available where CHOL_TEST_DEVICE names a library that has it.
Memory& device_memory();

/// Memory that lives as long as this object.
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
