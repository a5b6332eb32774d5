// Where the products of the samples of a block column go: see column.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

template <class T>
class ColumnPlan {
 public:
  explicit ColumnPlan(const backend::ColumnSamples<T>& column) : column_(column) {
    for (const auto& row : column.rows) {
      most_samples = std::max(most_samples, row.samples);
      most_left_samples = std::max(most_left_samples, row.left_samples);
      most_order = std::max({most_order, row.order, column.order});
    }
    for (const backend::LowRank<T>& tile : column.right) {
      right.push_back({tile.U, tile.V, static_cast<int>(tile.rank), static_cast<int>(right_rows_),
                       right_rows_ * most_samples});
      right_rows_ += tile.rank;
    }
    plan_left();
  }

  /// Of U_kj^H Omega for all j, each at the core of its right tile.
  int64_t right_elements() const { return right_rows_ * most_samples; }

  /// The rows with their scratch at base, or with nullptr its elements.
  int64_t carve(T* base) {
    Carver<T> carver(base);
    rows.clear();
    for (size_t r = 0; r < column_.rows.size(); ++r) {
      const auto& row = column_.rows[r];
      const int64_t height = left_rows_[r] + std::max<int64_t>(row.own.rank, 0);
      ColumnRow item{};
      item.own = {row.own.U, row.own.V, static_cast<int>(row.own.rank),
                  static_cast<int>(left_rows_[r]), 0};
      item.Y = row.Y;
      item.X = row.X;
      item.Z = carver.take(height * row.samples);
      item.F = carver.take(height * row.left_samples);
      item.H = carver.take(right_rows_ * row.left_samples);
      item.G = carver.take(cores_[r]);
      item.order = static_cast<int>(row.order);
      item.samples = static_cast<int>(row.samples);
      item.left_samples = static_cast<int>(row.left_samples);
      rows.push_back(item);
    }
    return carver.used();
  }

  std::vector<ColumnTile> left, right;
  std::vector<ColumnRow> rows;
  int64_t most_samples = 0, most_left_samples = 0, most_order = 0;

 private:
  void plan_left() {
    left.reserve(column_.left.size());
    const backend::LowRank<T>* next = column_.left.data();
    for (size_t r = 0; r < column_.rows.size(); ++r) {
      int64_t height = 0, cores = 0;
      for (size_t j = 0; j < column_.right.size(); ++j, ++next) {
        left.push_back(
            {next->U, next->V, static_cast<int>(next->rank), static_cast<int>(height), cores});
        height += next->rank;
        cores += next->rank * column_.right[j].rank;
      }
      left_rows_.push_back(height);
      cores_.push_back(cores);
    }
  }

  const backend::ColumnSamples<T>& column_;
  std::vector<int64_t> left_rows_, cores_;
  int64_t right_rows_ = 0;
};

}  // namespace chol::cuda::tlr
