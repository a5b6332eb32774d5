// Plan of a solve with many right-hand sides by stages, made on the host: see wide_ops.cuh.
#pragma once

#include "tlr/wide.hpp"

namespace chol::cuda::tlr {

/// Columns of right factors and rows of sums per task on the critical path (near), and per other
/// task; the least number of columns in a part of a sum, and the largest number of parts.
struct WideTaskSizes {
  int near_columns, near_rows, columns, rows, part_columns, most_parts;
};
/// The number of preceding stages whose products a stage adds itself (near stages). The
/// contributions of earlier stages are formed as parts, with one buffer more than near stages.
inline constexpr int kNearStages = 2, kPartBuffers = kNearStages + 1;

/// Block rows that are solved for together. The lists of a stage are ranges that end where those of
/// the next stage begin: right factors for the near stages, and for later stages; sums of the next
/// stage over the near ones, in `near_left`; and parts of the sums of the first stage that is not
/// near.
struct WideStage {
  int start, order, index;  ///< rows of X, and the index of the inverse
  int part_count = 0;       ///< number of parts of the sums of this stage
  int64_t near_right = 0, far_right = 0, near_left = 0, parts = 0;
};

/// The lists of a solve by stages.
template <class T>
class WideStages {
 public:
  std::vector<RightTask> right;
  std::vector<PartTask> left, parts;
  std::vector<WideStage> stages;  ///< followed by an end marker
  int64_t part_rows = 0;          ///< the largest number of rows of all parts of a stage

  WideStages(const WideLists<T>& lists, const backend::LowerTiles<T>& L, bool adjoint,
             const WideTaskSizes& sizes)
      : lists_(lists), sizes_(sizes) {
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
    lists_.add_right(right, end(s - 1), end(s), end(s), end(s + kNearStages), sizes_.near_columns);
    stage.far_right = std::ssize(right);
    lists_.add_right(right, end(s - 1), end(s), end(s + kNearStages), lists_.count, sizes_.columns);
    lists_.add_parts(left, end(s - kNearStages), end(s), end(s), end(s + 1), 1, sizes_.near_rows);
    const int from = end(s + kNearStages), to = end(s + kNearStages + 1);
    if (from == to) return;
    WideStage& target = stages[static_cast<size_t>(s + kNearStages + 1)];
    target.part_count = std::clamp(lists_.most_columns(end(s), from, to) / sizes_.part_columns, 1,
                                   sizes_.most_parts);
    lists_.add_parts(parts, 0, end(s), from, to, target.part_count, sizes_.rows);
    part_rows = std::max(part_rows, int64_t{target.part_count} * target.order);
  }

  const WideLists<T>& lists_;
  WideTaskSizes sizes_;
  std::vector<int> ends_;
};

}  // namespace chol::cuda::tlr
