#include "tune/cluster_rows.hpp"

namespace chol::cuda {
namespace {

constexpr char kLower = 'L', kUpper = 'U', kBoth = '*';
constexpr int kMeasured = 132;    ///< multiprocessors of the device that the rows are of
constexpr ClusterPlan kOthers{};  ///< the kernels of larger batches

/// From order least_n on and up to so many matrices on kMeasured multiprocessors.
struct ClusterRow {
  char precision, triangle;
  int64_t least_n;
  int most_matrices;
  ClusterPlan plan;
};
// Measured on an H200, CUDA 13.0. As many blocks a matrix as find a multiprocessor each, and less
// than that where clusters do not fill its groups of 16 or 18; beyond half as many matrices three
// small blocks, of which several share a multiprocessor. The first row that fits counts; what no
// row has is by the kernels of larger batches.
// clang-format off
constexpr ClusterRow kRows[] = {
    {'s', kBoth, 200, 12, {128, 8}},  {'s', kBoth, 200, 20, {128, 6}},
    {'s', kBoth, 200, 28, {128, 4}},  {'s', kBoth, 200, 40, {128, 3}},
    {'s', kBoth, 200, 56, {128, 4}},  {'s', kBoth, 300, 88, {128, 3}},
    {'s', kBoth, 200, 132, {128, 2}},

    {'d', kLower, 256, 12, {256, 8}}, {'d', kLower, 256, 20, {256, 6}},
    {'d', kLower, 256, 28, {256, 4}}, {'d', kLower, 256, 40, {256, 3}},
    {'d', kLower, 700, 56, {256, 4}}, {'d', kLower, 300, 66, {256, 2}},
    {'d', kLower, 450, 88, {256, 3}}, {'d', kLower, 600, 116, {256, 2}},
    {'d', kUpper, 256, 12, {128, 8}}, {'d', kUpper, 256, 20, {128, 6}},
    {'d', kUpper, 256, 28, {128, 4}}, {'d', kUpper, 700, 40, {256, 3}},
    {'d', kUpper, 256, 40, {128, 3}}, {'d', kUpper, 500, 66, {256, 2}},
    {'d', kUpper, 256, 66, {128, 2}}, {'d', kUpper, 384, 88, {128, 3}},

    {'c', kBoth, 200, 12, {256, 8}},  {'c', kBoth, 200, 20, {256, 6}},
    {'c', kBoth, 200, 28, {256, 4}},  {'c', kBoth, 200, 40, {256, 3}},
    {'c', kBoth, 200, 66, {256, 2}},  {'c', kBoth, 384, 88, {128, 3}},
    {'c', kBoth, 200, 132, {256, 1}},

    {'z', kBoth, 200, 12, {256, 8}},  {'z', kBoth, 200, 20, {256, 6}},
    {'z', kBoth, 200, 28, {256, 4}},  {'z', kBoth, 200, 40, {256, 3}},
    {'z', kBoth, 200, 66, {256, 2}},  {'z', kBoth, 384, 88, {128, 3}},
    {'z', kBoth, 601, 132, kOthers},  {'z', kBoth, 306, 132, {256, 1}}};
// clang-format on

}  // namespace

ClusterPlan cluster_plan(char precision, bool upper, int64_t n, int64_t count,
                         int multiprocessors) {
  for (const ClusterRow& row : kRows)
    if (row.precision == precision &&
        (row.triangle == kBoth || row.triangle == (upper ? kUpper : kLower)) && row.least_n <= n &&
        count * kMeasured <= int64_t(row.most_matrices) * multiprocessors)
      return row.plan;
  return {};
}

}  // namespace chol::cuda
