// Progress of a factorization by residues on the device, for the host that queues its panels.
#pragma once

#include <cuda_runtime_api.h>

#include "common/launch.hpp"

namespace chol::cuda::residues {

/// Two reports in pinned memory for alternate panels, each with an event. Created at the first call
/// that needs them and kept.
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
