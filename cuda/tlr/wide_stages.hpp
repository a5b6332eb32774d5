// A solve with many right-hand sides by stages, as the host plans it: see wide_ops.cuh.
#pragma once

#include "tlr/wide.hpp"

namespace chol::cuda::tlr {

/// Most parts of a sum, and the columns that a part has at least.
inline constexpr int kMostParts = 16, kPartColumns = 512;
/// Stages whose products the next one takes itself; what those before contribute comes in parts,
/// of so many stages at a time and one more.
inline constexpr int kNearStages = 2, kPartBuffers = kNearStages + 1;

/// Some block rows that are solved for together. What is done then, as ranges of lists that end
/// where those of the next stage begin: right factors for the stages that are near, and for others;
/// sums of the next stage from those that are near, in `near_left`; and parts of the sums of the
/// first stage that is not near.
struct WideStage {
  int start, order, index;  ///< rows of X, and which inverse
  int part_count = 0;       ///< of the sums of this stage
  int64_t near_right = 0, far_right = 0, near_left = 0, parts = 0;
};

/// The lists of a solve by stages.
template <class T>
class WideStages {
 public:
  std::vector<RightTask> right;
  std::vector<PartTask> left, parts;
  std::vector<WideStage> stages;  ///< and an end
  int64_t part_rows = 0;          ///< of all parts of a stage at most

  /// @param small_rows of tasks that the next stage waits for @param task_rows of others
  WideStages(const WideLists<T>& lists, const backend::LowerTiles<T>& L, bool adjoint,
             int small_rows, int task_rows, int part_columns = kPartColumns)
      : lists_(lists), small_rows_(small_rows), task_rows_(task_rows), part_columns_(part_columns) {
    const int count = lists.count, size = static_cast<int>(L.stage);
    const int all = (count + size - 1) / size;
    for (int s = 0; s < all; ++s) {
      const int index = adjoint ? all - 1 - s : s;
      const int first = index * size, end = std::min(first + size, count);
      ends_.push_back(adjoint ? count - first : end);
      const int start = static_cast<int>(L.starts[first]);
      stages.push_back({start, static_cast<int>(L.starts[end]) - start, index});
    }
    for (int s = 0; s < all; ++s) add(s);
    stages.push_back({0, 0, 0});
    note(stages.back());
    stages.back().far_right = stages.back().near_right;
  }

 private:
  int end(int s) const {
    return s < 0 ? 0 : ends_[std::min(static_cast<size_t>(s), ends_.size() - 1)];
  }
  void note(WideStage& stage) const {
    stage.near_right = std::ssize(right);
    stage.near_left = std::ssize(left);
    stage.parts = std::ssize(parts);
  }
  void add(int s) {
    WideStage& stage = stages[static_cast<size_t>(s)];
    note(stage);
    lists_.add_right(right, end(s - 1), end(s), end(s), end(s + kNearStages), small_rows_);
    stage.far_right = std::ssize(right);
    lists_.add_right(right, end(s - 1), end(s), end(s + kNearStages), lists_.count, task_rows_);
    lists_.add_parts(left, end(s - kNearStages), end(s), end(s), end(s + 1), 1, small_rows_);
    const int from = end(s + kNearStages), to = end(s + kNearStages + 1);
    if (from == to) return;
    WideStage& target = stages[static_cast<size_t>(s + kNearStages + 1)];
    target.part_count =
        std::clamp(lists_.most_columns(end(s), from, to) / part_columns_, 1, kMostParts);
    lists_.add_parts(parts, 0, end(s), from, to, target.part_count, task_rows_);
    part_rows = std::max(part_rows, int64_t{target.part_count} * target.order);
  }

  const WideLists<T>& lists_;
  int small_rows_, task_rows_, part_columns_;
  std::vector<int> ends_;
};

}  // namespace chol::cuda::tlr
