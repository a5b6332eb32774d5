// Which batches have so few matrices that a thread block cluster works on each.
#pragma once

#include <cstdint>

#include "batched/cluster/params.hpp"

namespace chol::cuda {

/// How clusters factor a batch of that many matrices of orders up to n on a device of that many
/// multiprocessors; no blocks: not by clusters.
ClusterPlan cluster_plan(char precision, bool upper, int64_t n, int64_t count, int multiprocessors);

}  // namespace chol::cuda
