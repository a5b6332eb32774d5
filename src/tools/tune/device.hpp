// The first CUDA device through its driver, which is opened at run time: chol-tune also runs on
// machines without one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tools/tune/occupancy.hpp"

namespace chol::tune::device {

/// Whether there is a driver with a device.
bool present();
/// Needs no context.
DeviceModel model();
int processors();
int64_t cache_bytes();  ///< of the second level

/// Makes the context of the CUDA runtime current. This and the following functions throw
/// std::runtime_error.
void open();

class Memory {
 public:
  explicit Memory(size_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }
  /// Fills the buffer with repeated copies of the bytes.
  void fill_with(const void* host, size_t bytes);
  void read(void* host, size_t bytes, size_t offset) const;
  void copy_from(const Memory& other);
  size_t size() const { return size_; }

 private:
  unsigned long long address_ = 0;
  size_t size_;
};

/// Seconds between two events in the default stream.
class StopWatch {
 public:
  StopWatch();
  ~StopWatch();
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  void start();
  double stop();  ///< waits for the work in between

 private:
  void *begin_ = nullptr, *end_ = nullptr;
};

}  // namespace chol::tune::device
