// Load by other processes during a measurement, which is written to the record.
#pragma once

#include <chrono>

namespace chol::bench {

class LoadMeter {
 public:
  LoadMeter();
  /// CPU time used by others (or the hypervisor) since the start, as a share of all processors; < 0
  /// if unknown. Children must have been reaped before.
  double others() const;

 private:
  double busy_ = 0, own_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace chol::bench
