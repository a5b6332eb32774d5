// Parameters of clusters, as data.
#pragma once

namespace chol::cuda {

/// Threads of a block, blocks a matrix; 0 where other kernels serve.
struct ClusterPlan {
  int threads = 0, blocks = 0;
};

}  // namespace chol::cuda
