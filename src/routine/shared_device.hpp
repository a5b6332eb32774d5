// The devices that matrices in host memory go to: the current one, or those that CHOL_DEVICES
// names. The process has them once, whatever the number of handles and threads, since their memory
// and their links are there once.
#pragma once

#include <signal.h>

#include "routine/handle.hpp"

namespace chol::routine {

/// Keeps the calling thread's signals waiting: a handler that ended the process or jumped out of a
/// CUDA call would leave locks behind. What tells of an error of the thread itself comes through.
class SignalShield {
 public:
  SignalShield();
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;
  ~SignalShield();

 private:
  sigset_t before_;
};

/// Whether there can be a device: none was found missing, none was lost, and this process is no
/// child of one that had it open. At most 100 ns.
bool device_is_possible();
/// The tuning store of the device, nullptr while it is not open.
TuningStore* device_tuning();
/// How many devices work on a matrix.
int device_count();

/// The devices, opened if need be, for the duration of a call. There is none when one cannot be
/// opened, or when the calls before this one take longer than `patience` seconds.
class DeviceTurn {
 public:
  explicit DeviceTurn(double patience);
  DeviceTurn(const DeviceTurn&) = delete;
  DeviceTurn& operator=(const DeviceTurn&) = delete;
  ~DeviceTurn();

  explicit operator bool() const { return devices_ != nullptr; }
  Handle::Devices devices() const { return *devices_; }
  /// A device failed: later calls do not use the devices.
  void give_up();

 private:
  SignalShield shield_;
  bool holds_ = false;
  const Handle::Slots* devices_ = nullptr;
};

}  // namespace chol::routine
