// How much of the machine others used while we measured: a record made beside a build says so.
#pragma once

#include <chrono>

namespace chol::bench {

class LoadMeter {
 public:
  LoadMeter();
  /// Processors' worth of time that others (or the hypervisor) took since the start, as a share of
  /// all processors; < 0 where the system does not tell. Children have to be reaped before.
  double others() const;

 private:
  double busy_ = 0, own_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace chol::bench
