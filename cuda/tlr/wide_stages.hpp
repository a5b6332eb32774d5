// A solve with many right-hand sides by stages, as the host plans it: see wide_ops.cuh.
#pragma once

#include "tlr/wide.hpp"

namespace chol::cuda::tlr {

/// A sum's parts, and the columns that a part has at least.
inline constexpr int kMostParts = 12, kPartColumns = 512;

/// Some block rows that are solved for together. What is done then, as ranges of lists that end
/// where those of the next stage begin: near ones concern the stage that is next, next ones the one
/// after it, far ones the others. `parts` is the sums of that one over all stages up to this.
struct WideStage {
  int start, order, index;  ///< rows of X, and which inverse
  int part_count;
  int64_t near_right, next_right, far_right, near_left, parts;
};

/// The lists of a solve by stages.
template <class T>
class WideStages {
 public:
  std::vector<RightTask> right;
  std::vector<LeftTask> left;
  std::vector<PartTask> parts;
  std::vector<WideStage> stages;  ///< and an end
  int64_t part_rows = 0;          ///< of all parts of a stage at most

  /// @param small_rows of tasks that the next stage waits for @param task_rows of others
  WideStages(const WideLists<T>& lists, const backend::LowerTiles<T>& L, bool adjoint,
             int small_rows, int task_rows)
      : lists_(lists), small_rows_(small_rows), task_rows_(task_rows) {
    const int count = lists.count, size = static_cast<int>(L.stage);
    const int all = (count + size - 1) / size;
    for (int s = 0; s < all; ++s) {
      const int index = adjoint ? all - 1 - s : s;
      const int first = index * size, end = std::min(first + size, count);
      ends_.push_back(adjoint ? count - first : end);
      const int start = static_cast<int>(L.starts[first]);
      stages.push_back({start, static_cast<int>(L.starts[end]) - start, index, 0, 0, 0, 0, 0, 0});
    }
    for (int s = 0; s < all; ++s) add(s);
    stages.emplace_back();
    note(stages.back());
    stages.back().next_right = stages.back().far_right = stages.back().near_right;
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
    lists_.add_right(right, end(s - 1), end(s), end(s), end(s + 1), small_rows_);
    stage.next_right = std::ssize(right);
    lists_.add_right(right, end(s - 1), end(s), end(s + 1), end(s + 2), task_rows_);
    stage.far_right = std::ssize(right);
    lists_.add_right(right, end(s - 1), end(s), end(s + 2), lists_.count, task_rows_);
    lists_.add_left(left, end(s - 1), end(s), end(s), end(s + 1), small_rows_);
    const int from = end(s + 1), to = end(s + 2);
    if (from == to) return;
    stage.part_count =
        std::clamp(lists_.most_columns(end(s), from, to) / kPartColumns, 1, kMostParts);
    lists_.add_parts(parts, end(s), from, to, stage.part_count, task_rows_);
    const int64_t rows = stages[static_cast<size_t>(s) + 2].order;
    part_rows = std::max(part_rows, stage.part_count * rows);
  }

  const WideLists<T>& lists_;
  int small_rows_, task_rows_;
  std::vector<int> ends_;
};

}  // namespace chol::cuda::tlr
