#include "tune/refine_rows.hpp"

#include <algorithm>

#include "tune/methods.hpp"

namespace chol::cuda {
namespace {

constexpr Only kLower = Only::without, kUpper = Only::with, kBoth = Only::both;
constexpr int kMeasured = 132;    ///< multiprocessors of the device that the rows are of
constexpr ClusterPlan kOthers{};  ///< the kernels of larger batches

// Measured on an H200, CUDA 13.0. As many blocks a matrix as there are multiprocessors for, or
// fewer if clusters do not fill its groups of 16 or 18 multiprocessors; for more matrices than half
// of the multiprocessors three small blocks, several of which share a multiprocessor. The first
// matching row is used; other cases use the kernels of larger batches.
// clang-format off
constexpr ClusterRow kClusters[] = {
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

/// Orders whose last row is faster factored separately. The same for any number of matrices, so
/// that the bits do not depend on it.
struct BorderedRow {
  char precision;
  Only upper;
  Range n;
};
// clang-format off
constexpr BorderedRow kBordered[] = {
    {'s', kLower, {49, 49}},      {'s', kLower, {81, 97, 16}},   {'s', kLower, {161, 353, 32}},
    {'s', kUpper, {65, 113, 16}}, {'s', kUpper, {129, 449, 32}},
    {'d', kLower, {49, 65, 16}},  {'d', kLower, {113, 145, 16}},
    {'d', kUpper, {49, 97, 16}},  {'d', kUpper, {129, 449, 32}},
    {'c', kLower, {49, 385, 16}}, {'c', kUpper, {49, 225, 16}},
    {'z', kLower, {33, 289, 16}}, {'z', kUpper, {33, 145, 16}}};
// clang-format on

/// Orders up to which kernels in registers serve the upper triangle, where the lower one already
/// uses others; equal orders only.
struct RegisterRow {
  char precision;
  Only upper;
  int64_t most_n;
};
constexpr RegisterRow kRegisters[] = {{'s', kUpper, 62}, {'d', kUpper, 48}, {'z', kUpper, 40}};

/// The intersection of two cases; at most one of the ranges may have a step.
Range within(const Range& a, const Range& b) {
  Range both{std::max(a.least, b.least), std::min(a.most, b.most), std::max(a.step, b.step)};
  const Range& stepped = a.step > 1 ? a : b;
  both.least += (stepped.step - (both.least - stepped.least) % stepped.step) % stepped.step;
  return both;
}
Only within(Only a, Only b) { return a == Only::both ? b : a; }
bool are_apart(Only a, Only b) { return a != Only::both && b != Only::both && a != b; }

class Refinement {
 public:
  explicit Refinement(int multiprocessors) : multiprocessors_(multiprocessors) {}

  void add(const Row& row) {
    if (!is_left_looking(row.choice)) return rows.push_back(row);
    for (const BorderedRow& its : kBordered)
      if (its.precision == row.precision) {
        Row bordered = row;
        bordered.choice.set("bordered", 1);
        add_part(bordered, {.n = its.n, .upper = its.upper, .variable = Only::without});
      }
    // Methods with one launch for both halves of posv are kept.
    for (const RegisterRow& its : kRegisters)
      if (its.precision == row.precision && row.choice.is(kLeftLookingPotrf)) {
        Row in_registers = row;
        in_registers.choice = {kRegisterPotrf, {{"in_order", row.choice.at(2)}}};
        add_part(in_registers,
                 {.n = {0, its.most_n}, .upper = its.upper, .variable = Only::without});
      }
    add_with_clusters(row);
  }
  std::vector<Row> rows;

 private:
  /// Adds the row for the intersection with its cases, unless that is empty.
  static bool restrict_to(Row& row, const Cases& cases) {
    if (are_apart(row.cases.upper, cases.upper) || are_apart(row.cases.variable, cases.variable))
      return false;
    row.cases.n = within(row.cases.n, cases.n);
    row.cases.batch = within(row.cases.batch, cases.batch);
    row.cases.upper = within(row.cases.upper, cases.upper);
    row.cases.variable = within(row.cases.variable, cases.variable);
    return !row.cases.n.is_empty() && !row.cases.batch.is_empty();
  }
  void add_part(Row row, const Cases& cases) {
    if (restrict_to(row, cases)) add_with_clusters(row);
  }
  void add_with_clusters(const Row& row) {
    for (const ClusterRow& its : kClusters) {
      if (row.form != Form::batch || its.precision != row.precision || !is_left_looking(row.choice))
        continue;
      Row few = row;
      if (!restrict_to(few, {.n = {its.least_n},
                             .batch = {0, most_matrices(its, multiprocessors_)},
                             .upper = its.upper}))
        continue;
      few.choice.set("cluster_threads", its.plan.threads);
      few.choice.set("cluster_blocks", its.plan.blocks);
      rows.push_back(few);
    }
    rows.push_back(row);
  }

  int multiprocessors_;
};

}  // namespace

std::span<const ClusterRow> cluster_rows() { return kClusters; }

int64_t most_matrices(const ClusterRow& row, int multiprocessors) {
  return int64_t(row.most_matrices) * multiprocessors / kMeasured;
}

std::vector<Row> refined(const std::vector<Row>& rows, int multiprocessors) {
  Refinement refinement(multiprocessors);
  for (const Row& row : rows) refinement.add(row);
  return refinement.rows;
}

}  // namespace chol::cuda
