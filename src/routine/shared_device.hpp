// The devices to which host matrices are offloaded: the current one, or those that CHOL_DEVICES
// names. They are shared by all handles and threads of the process, like their memory and links.
#pragma once

#include <signal.h>

#include "routine/handle.hpp"

namespace chol::routine {

/// Blocks signals of the calling thread: a handler that ended the process or jumped out of a CUDA
/// call would leave locks held. Signals of synchronous errors (such as SIGSEGV) are not blocked.
class SignalShield {
 public:
  SignalShield();
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;
  ~SignalShield();

 private:
  sigset_t before_;
};

/// Whether a device may be available: none was found missing or lost, and this process was not
/// forked from one that had it open. At most 100 ns.
bool device_is_possible();
/// The tuning store of the device, nullptr while it is not open.
TuningStore* device_tuning();
/// Number of devices that work on a matrix.
int device_count();

/// Acquires the devices for the duration of a call and opens them if necessary. Empty when one
/// cannot be opened, or when earlier calls take longer than `patience` seconds.
class DeviceTurn {
 public:
  explicit DeviceTurn(double patience);
  DeviceTurn(const DeviceTurn&) = delete;
  DeviceTurn& operator=(const DeviceTurn&) = delete;
  ~DeviceTurn();

  explicit operator bool() const { return devices_ != nullptr; }
  Handle::Devices devices() const { return *devices_; }
  /// Marks the devices as failed: later calls do not use them.
  void give_up();

 private:
  SignalShield shield_;
  bool holds_ = false;
  const Handle::Slots* devices_ = nullptr;
};

}  // namespace chol::routine
