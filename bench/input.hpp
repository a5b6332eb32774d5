// The input that all contestants of a case share: anonymous shared memory, written once by
// chol-bench, mapped read-only by the contestants.
#pragma once

#include <cstddef>

#include "case.hpp"

namespace chol::bench {

/// A mapping of shared memory, closed by the destructor.
class SharedMemory {
 public:
  explicit SharedMemory(size_t bytes);         ///< new memory, to be inherited by children
  SharedMemory(int descriptor, size_t bytes);  ///< a parent's memory, read-only
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  int descriptor() const { return descriptor_; }
  char* data() const { return data_; }

 private:
  int descriptor_ = -1;
  size_t bytes_ = 0;
  char* data_ = nullptr;
};

/// Bytes of A, then of B, that a layout takes.
size_t input_bytes(const Layout& layout, char precision);

/// Fills memory with Hermitian positive definite matrices, both triangles, and right-hand sides:
/// every element random, none zero; diagonally dominant, so that no n and no seed can fail.
void fill_input(const Case& c, const Layout& layout, char* memory);

}  // namespace chol::bench
