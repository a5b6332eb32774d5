// Refines rows of left-looking kernels of batches by triangle, single orders and small numbers of
// matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batched/cluster/params.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// Parameters of clusters for matrices from order least_n on, up to a number of matrices on
/// kMeasured multiprocessors. The first matching row is used.
struct ClusterRow {
  char precision;
  Only upper;
  int64_t least_n;
  int most_matrices;
  ClusterPlan plan;
};
std::span<const ClusterRow> cluster_rows();
/// The number of matrices scaled to a device with that many multiprocessors.
int64_t most_matrices(const ClusterRow& row, int multiprocessors);

/// Inserts before each row of a left-looking method rows for those of its cases that are bordered,
/// in registers or by clusters. A batch of few matrices has the bits of a larger one.
std::vector<Row> refined(const std::vector<Row>& rows, int multiprocessors);

}  // namespace chol::cuda
