// Memory of tiles and intermediate results, without initial values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace chol {

/// Allocator of device memory; outlives its allocations.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Aligned to 256 bytes; nullptr on failure.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
};

/// Aligned elements; throws std::bad_alloc.
template <class T>
class Buffer {
 public:
  static constexpr size_t kAlignment = 64;

  Buffer() = default;
  /// @param memory nullptr: of the host
  explicit Buffer(int64_t count, Memory* memory = nullptr)
      : elements_(nullptr, Free{memory}), count_(count) {
    if (count <= 0) return;
    if (static_cast<uint64_t>(count) > (size_t(1) << 62) / sizeof(T)) throw std::bad_alloc();
    const size_t bytes =
        (static_cast<size_t>(count) * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    elements_.reset(
        static_cast<T*>(memory ? memory->allocate(bytes) : std::aligned_alloc(kAlignment, bytes)));
    if (!elements_) throw std::bad_alloc();
  }

  T* get() const { return elements_.get(); }
  int64_t count() const { return count_; }
  /// Makes room for `count` elements; the content is lost when it grows.
  void reserve(int64_t count) {
    if (count <= count_) return;
    Memory* const memory = elements_.get_deleter().memory;
    *this = Buffer(0, memory);
    *this = Buffer(count, memory);
  }

 private:
  struct Free {
    Memory* memory = nullptr;
    void operator()(T* elements) const {
      if (memory)
        memory->release(elements);
      else
        std::free(elements);
    }
  };
  std::unique_ptr<T[], Free> elements_;
  int64_t count_ = 0;
};

/// Carves elements from a buffer; a null one counts.
template <class T>
class Carver {
 public:
  explicit Carver(T* base = nullptr) : base_(base) {}
  T* take(int64_t count) {
    T* const start = base_ ? base_ + used_ : nullptr;
    constexpr int64_t kStep = Buffer<T>::kAlignment / sizeof(T) > 0 ? 64 / sizeof(T) : 1;
    used_ += (count + kStep - 1) / kStep * kStep;
    return start;
  }
  int64_t used() const { return used_; }

 private:
  T* base_;
  int64_t used_ = 0;
};

}  // namespace chol
