// Workspace counted by the code that uses it: the same carve-up gives the size on a null arena and
// the pointers on memory (as in Ginkgo's batch solvers).
#pragma once

#include <cstddef>
#include <cstdint>

namespace chol {

class Arena {
 public:
  static constexpr size_t kAlignment = 256;

  Arena() = default;  ///< null: every take() returns nullptr and only counts
  Arena(void* memory, size_t bytes) : base_(static_cast<char*>(memory)), capacity_(bytes) {}

  /// The next `count` elements, aligned to kAlignment when the arena's base is.
  template <class T>
  T* take(size_t count) {
    const size_t start = used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return base_ && used_ <= capacity_ ? reinterpret_cast<T*>(base_ + start) : nullptr;
  }

  size_t used() const { return used_; }

 private:
  char* base_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace chol
