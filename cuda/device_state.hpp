// State of a device's backend that all calls share.
#pragma once

#include <cuda_runtime.h>

#include <mutex>

#include "common/device_limits.hpp"
#include "native/host_matrix.hpp"
#include "native/one_matrix.hpp"
#include "native/residues/progress.hpp"
#include "tune/store.hpp"

namespace chol::cuda {

struct DeviceState {
  int device;
  int multiprocessors;
  TuningStore tuning;
  Blas blas;
  residues::Progress progress;
  Staging staging;

  DeviceState(int device_, int multiprocessors_)
      : device(device_), multiprocessors(multiprocessors_) {}
  /// For that device, which must be current.
  const DeviceLimits& limits() {
    std::call_once(limits_known_, [&] { limits_ = current_device_limits(); });
    return limits_;
  }

 private:
  std::once_flag limits_known_;
  DeviceLimits limits_;
};

}  // namespace chol::cuda
