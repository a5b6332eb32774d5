// Rows of left-looking kernels of batches by what their kernels differ in: the triangle, single
// orders, and how few the matrices are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "batched/cluster/params.hpp"
#include "tune/row.hpp"

namespace chol::cuda {

/// How clusters factor batches of matrices from order least_n on and up to so many on kMeasured
/// multiprocessors. The first row that has a batch counts.
struct ClusterRow {
  char precision;
  Only upper;
  int64_t least_n;
  int most_matrices;
  ClusterPlan plan;
};
std::span<const ClusterRow> cluster_rows();
/// The matrices that are as few on a device of that many multiprocessors.
int64_t most_matrices(const ClusterRow& row, int multiprocessors);

/// Puts before each row of a left-looking method those of its cases that are bordered, in registers
/// or by clusters instead. A batch of few matrices has the bits of a larger one.
std::vector<Row> refined(const std::vector<Row>& rows, int multiprocessors);

}  // namespace chol::cuda
