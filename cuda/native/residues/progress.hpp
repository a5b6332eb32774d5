// How far the device is with a factorization by residues, for a host that queues its panels.
#pragma once

#include <cuda_runtime_api.h>

#include "common/launch.hpp"

namespace chol::cuda::residues {

/// Two reports in pinned memory, for panels in turn, with events behind them. Made at the first
/// call that needs them and kept from call to call.
class Progress {
 public:
  struct Report {
    int flagged, info;
  };

  Progress() = default;
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  Status prepare();
  /// Queues the report of a panel.
  Status send(int panel, const int* flagged, const int* info, cudaStream_t stream);
  /// Waits for it.
  Status receive(int panel, Report* report) const;

 private:
  cudaEvent_t sent_[2] = {};
  Report* reports_ = nullptr;
};

}  // namespace chol::cuda::residues
