// Where the products of the samples of a block column go: see column.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

/// What the host knows of FactorTables.
struct FinishedColumns {
  FinishedColumns() = default;
  explicit FinishedColumns(int count)
      : tiles(count),
        starts(static_cast<size_t>(count) * (count + 1)),
        row_starts(starts),
        V(static_cast<size_t>(count)) {}
  int start(int64_t i, int64_t j) const { return starts[j * (tiles + 1) + i]; }
  int row_start(int64_t i, int64_t j) const { return j > 0 ? row_starts[i * (tiles + 1) + j] : 0; }

  int tiles = 0;
  std::vector<int> starts, row_starts;
  std::vector<const void* const*> V;  ///< vectors of block columns
  FactorTables on_device{};

  /// Enters block column k; the list of what the device has to.
  template <class T>
  std::vector<FinishedTile> enter(const backend::FinishedColumn<T>& column, const T* identity) {
    std::vector<FinishedTile> list;
    int start = 0;
    for (const auto& row : column.rows) {
      const bool dense = row.tile.rank < 0;
      const int rank = static_cast<int>(dense ? column.order : row.tile.rank);
      const int64_t k = column.k;
      const int row_start = row_starts[row.index * (tiles + 1) + k];
      list.push_back({row.tile.U, dense ? identity : row.tile.V, static_cast<int>(row.index), rank,
                      static_cast<int>(row.order), start, row_start});
      starts[k * (tiles + 1) + row.index] = start;
      start += rank;
      starts[k * (tiles + 1) + row.index + 1] = start;
      row_starts[row.index * (tiles + 1) + k + 1] = row_start + rank;
    }
    return list;
  }
};

/// The products of long vectors that come first, and the rows with their scratch.
template <class T>
class ColumnPlan {
 public:
  ColumnPlan(const backend::ColumnSamples<T>& column, const FinishedColumns& finished)
      : column_(column), finished_(finished) {
    for (const auto& row : column.rows) {
      most_samples = std::max(most_samples, row.samples);
      most_left_samples = std::max(most_left_samples, row.left_samples);
      most_order = std::max({most_order, row.order, column.order});
    }
    ldx = even(most_samples);
  }

  /// With scratch at base, or with nullptr its elements.
  int64_t carve(T* base) {
    Carver<T> carver(base);
    const int64_t k = column_.k, from = column_.from, to = column_.to;
    const bool is_first = from == 0;
    const int of_right = finished_.row_start(k, to) - finished_.row_start(k, from);
    G.clear();
    items.clear();
    rows.clear();
    for (int64_t j = from; j < to; ++j) {
      const int first = finished_.start(k + 1, j), end = finished_.start(finished_.tiles, j);
      const backend::LowRank<T>& right = column_.right[j - from];
      G.push_back(carver.take(int64_t{end - first} * right.rank));
      const int tile = static_cast<int>(column_.tile), rank = static_cast<int>(right.rank);
      add({finished_.V[j] + first, nullptr, right.V, const_cast<void*>(G.back()), end - first, rank,
           tile, 0, tile, rank, 1});
    }
    X = carver.take(of_right * ldx);
    const int ld = static_cast<int>(column_.ld), order = static_cast<int>(column_.order);
    add({finished_.on_device.U + k * finished_.on_device.most_of_row + finished_.row_start(k, from),
         nullptr, column_.omega, X, of_right, static_cast<int>(most_samples), order, 0, ld,
         static_cast<int>(ldx), 1});
    for (const auto& row : column_.rows) {
      const int of_left = finished_.row_start(row.index, to) - finished_.row_start(row.index, from);
      ColumnRow item{row.own.U,
                     row.own.V,
                     row.Y,
                     row.X,
                     nullptr,
                     nullptr,
                     static_cast<int>(row.index),
                     is_first ? static_cast<int>(row.own.rank) : 0,
                     static_cast<int>(row.order),
                     static_cast<int>(row.samples),
                     static_cast<int>(row.left_samples),
                     static_cast<int>(even(row.samples)),
                     static_cast<int>(even(row.left_samples))};
      T* const Z = carver.take(int64_t{of_left + item.rank} * item.ldz);
      T* const H = carver.take(int64_t{of_right + item.rank} * item.ldh);
      item.Z = Z;
      item.H = H;
      rows.push_back(item);
      add({nullptr, row.own.V, column_.omega, Z + int64_t{of_left} * item.ldz, item.rank,
           item.samples, order, order, ld, item.ldz, 1});
      add({nullptr, row.own.U, column_.psi, H + int64_t{of_right} * item.ldh, item.rank,
           item.left_samples, item.order, item.order, ld, item.ldh, 1});
    }
    return carver.used();
  }

  std::vector<const void*> G;
  T* X = nullptr;
  std::vector<TallItem> items;
  std::vector<ColumnRow> rows;
  int64_t most_samples = 0, most_left_samples = 0, most_order = 0, ldx = 0;

 private:
  /// Of rows of 16 bytes.
  static int64_t even(int64_t count) { return (count + 3) / 4 * 4; }
  void add(const TallItem& item) {
    if (item.m > 0 && item.n > 0) items.push_back(item);
  }

  const backend::ColumnSamples<T>& column_;
  const FinishedColumns& finished_;
};

/// The tiles of the results of products of long vectors.
inline std::vector<Part> parts_of(const std::vector<TallItem>& items, int rows, int columns) {
  std::vector<Part> parts;
  for (size_t i = 0; i < items.size(); ++i)
    for (int column = 0; column * columns < items[i].n; ++column)
      for (int row = 0; row * rows < items[i].m; ++row)
        parts.push_back(
            {static_cast<int>(i), static_cast<uint16_t>(row), static_cast<uint16_t>(column)});
  return parts;
}

}  // namespace chol::cuda::tlr
