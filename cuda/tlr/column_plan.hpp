// Storage of the products for the samples of a block column: see column.cuh.
#pragma once

#include <algorithm>
#include <vector>

#include "backend/tile_ops.hpp"
#include "tlr/descriptors.hpp"

namespace chol::cuda::tlr {

/// Copy of FactorTables on the host.
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
  std::vector<const void* const*> V;  ///< vectors of the block columns
  FactorTables on_device{};

  /// Adds block column k; returns the list that the device needs.
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

/// The products of long vectors, which are computed first, and the rows with their scratch.
template <class T>
class ColumnPlan {
 public:
  /// @param least_joint the least number of columns of all X_i for one joint product
  ColumnPlan(const backend::ColumnSamples<T>& column, const FinishedColumns& finished,
             int64_t least_joint)
      : column_(column), finished_(finished) {
    for (const auto& row : column.rows) {
      most_samples = std::max(most_samples, row.samples);
      most_left_samples = std::max(most_left_samples, row.left_samples);
      most_order = std::max({most_order, row.order, column.order});
      joint_columns += row.left_samples;
    }
    ldx = even(most_samples);
    is_joint = column.from == 0 && column.to > 0 && joint_columns >= least_joint;
  }
  int64_t ld_joint() const { return even(joint_columns); }
  /// The arguments of the kernels, without the lists that are sent.
  ColumnItem item() const {
    ColumnItem item{};
    item.tables = finished_.on_device;
    item.X = X;
    item.k = static_cast<int>(column_.k);
    item.from = static_cast<int>(column_.from);
    item.to = static_cast<int>(column_.to);
    item.order = static_cast<int>(column_.order);
    item.ldx = static_cast<int>(ldx);
    item.joint_columns = static_cast<int>(is_joint ? joint_columns : 0);
    item.ld_joint = static_cast<int>(ld_joint());
    return item;
  }

  /// Assigns scratch memory at base. Returns its number of elements; base may be nullptr.
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
      const int tile = static_cast<int>(column_.tile), rank = static_cast<int>(right.rank);
      G.push_back(carver.take((end - first) * even(rank)));
      add({finished_.V[j] + first, nullptr, right.V, const_cast<void*>(G.back()), end - first, rank,
           tile, 0, tile, static_cast<int>(even(rank)), 1});
    }
    X = carver.take(of_right * ldx);
    const int ld = static_cast<int>(column_.ld), order = static_cast<int>(column_.order);
    add({finished_.on_device.U + k * finished_.on_device.most_of_row + finished_.row_start(k, from),
         nullptr, column_.omega, X, of_right, static_cast<int>(most_samples), order, 0, ld,
         static_cast<int>(ldx), 1});
    T* const H_of_all = is_joint ? carver.take(of_right * ld_joint()) : nullptr;
    columns.clear();
    for (const auto& row : column_.rows) {
      const int of_left = finished_.row_start(row.index, to) - finished_.row_start(row.index, from);
      ColumnRow item{};
      item.U = row.own.U;
      item.V = row.own.V;
      item.Y = row.Y;
      item.X = row.X;
      item.index = static_cast<int>(row.index);
      item.rank = is_first ? static_cast<int>(row.own.rank) : 0;
      item.order = static_cast<int>(row.order);
      item.samples = static_cast<int>(row.samples);
      item.left_samples = static_cast<int>(row.left_samples);
      item.ldz = static_cast<int>(even(row.samples));
      item.ld_own_h = static_cast<int>(even(row.left_samples));
      item.ldh = static_cast<int>(is_joint ? ld_joint() : item.ld_own_h);
      T* const Z = carver.take(int64_t{of_left + item.rank} * item.ldz);
      T* const own_Z = Z + int64_t{of_left} * item.ldz;
      const int behind = is_joint ? 0 : of_right;
      T* const H = carver.take(int64_t{behind + item.rank} * item.ld_own_h);
      T* const own_H = H + int64_t{behind} * item.ld_own_h;
      item.Z = Z;
      item.own_Z = own_Z;
      item.H = is_joint ? H_of_all + std::ssize(columns) : H;
      item.own_H = own_H;
      rows.push_back(item);
      add({nullptr, row.own.V, column_.omega, own_Z, item.rank, item.samples, order, order, ld,
           item.ldz, 1});
      add({nullptr, row.own.U, column_.psi, own_H, item.rank, item.left_samples, item.order,
           item.order, ld, item.ld_own_h, 1});
      if (is_joint)
        for (int64_t c = 0; c < row.left_samples; ++c) columns.push_back(row.X + c * column_.order);
    }
    return carver.used();
  }

  std::vector<const void*> G;
  T* X = nullptr;
  std::vector<TallItem> items;
  std::vector<ColumnRow> rows;
  bool is_joint = false;       ///< whether all X_i are computed by one product
  std::vector<void*> columns;  ///< the columns of all X_i, if is_joint
  int64_t joint_columns = 0;
  int64_t most_samples = 0, most_left_samples = 0, most_order = 0, ldx = 0;

 private:
  static int64_t even(int64_t count) { return (count + kRowPitch - 1) / kRowPitch * kRowPitch; }
  void add(const TallItem& item) {
    if (item.m > 0 && item.n > 0) items.push_back(item);
  }

  const backend::ColumnSamples<T>& column_;
  const FinishedColumns& finished_;
};

/// Adds tiles of an m by n result with `rows` rows and at most `columns` columns each. All tiles
/// have about the same number of columns, a multiple of those of two warps.
inline void add_parts(int item, int64_t m, int64_t n, int rows, int columns,
                      std::vector<TilePart>& parts) {
  if (m == 0 || n == 0) return;
  constexpr int64_t kStep = 16;
  const int64_t count = (n + columns - 1) / columns;
  const int64_t width = ((n + count - 1) / count + kStep - 1) / kStep * kStep;
  for (int64_t first = 0; first < n; first += width)
    for (int row = 0; row * rows < m; ++row)
      parts.push_back({item, static_cast<uint16_t>(row), static_cast<uint16_t>(first),
                       static_cast<uint16_t>(std::min(first + width, n))});
}

/// The tiles of the results of the products of long vectors.
inline std::vector<TilePart> parts_of(const std::vector<TallItem>& items, int rows, int columns) {
  std::vector<TilePart> parts;
  for (size_t i = 0; i < items.size(); ++i)
    add_parts(static_cast<int>(i), items[i].m, items[i].n, rows, columns, parts);
  return parts;
}
/// Adds the tiles of the Y_i (item 2 i) or X_i (2 i + 1) of a block column.
inline void add_parts_of_sums(const std::vector<ColumnRow>& list, bool is_X, int64_t order,
                              int rows, int columns, std::vector<TilePart>& parts) {
  for (size_t i = 0; i < list.size(); ++i) {
    const ColumnRow& row = list[i];
    add_parts(2 * static_cast<int>(i) + is_X, is_X ? order : row.order,
              is_X ? row.left_samples : row.samples, rows, columns, parts);
  }
}

}  // namespace chol::cuda::tlr
