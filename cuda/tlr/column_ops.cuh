// Samples of block columns, and products of long vectors: see column.cuh.
#pragma once

#include <type_traits>

#include "tlr/device_ops.cuh"

namespace chol::cuda::tlr {

/// Tile shapes of the products, and resident blocks per multiprocessor.
template <int kColumns_, int kRows_, int kBlocks_>
struct TileShape {
  static constexpr int kColumns = kColumns_, kRows = kRows_, kBlocks = kBlocks_;
  static constexpr int kThreads = 2 * kRows;
};
template <class D>
struct Shapes {
  static constexpr int kRows = ProductShape<D>::kRows;
  using Narrow = TileShape<32, kRows, kProductBlocks<D>>;
  using Wide = TileShape<sizeof(D) < 16 ? 64 : 32, kRows, kProductBlocks<D>>;
  /// For many vectors, and for all X_i: fewer bytes are read per operation.
  static constexpr bool is_double = std::is_same_v<D, double>;
  using Tall = std::conditional_t<is_double, TileShape<64, 128, 2>, Wide>;
  using Joint = std::conditional_t<is_double, TileShape<128, 64, 2>, Wide>;
};
/// The least number of vectors for tall tiles, and the least number of columns of all X_i for
/// computing them by one product: with fewer, multiprocessors would be idle.
inline constexpr int kLeastTall = 512, kLeastJoint = 2048;

template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    tall_products_kernel(const TallItem* __restrict__ items, const TilePart* __restrict__ parts) {
  extern __shared__ __align__(16) char memory[];
  const TilePart part = parts[blockIdx.x];
  compute_tall_tile(*reinterpret_cast<TallTiles<T, Shape::kColumns, Shape::kRows>*>(memory),
                    items[part.item], part.row * Shape::kRows, part.first, part.end);
}

template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads, sizeof(T) == 16 ? 2 : 4)
    middle_products_kernel(ColumnItem item, int parts) {
  extern __shared__ __align__(16) char memory[];
  compute_middle_products(*reinterpret_cast<MiddleTiles<T, kColumns>*>(memory), item, parts);
}

/// Tiles of Y_i (item 2 i) and X_i (2 i + 1).
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    column_sums_kernel(ColumnItem item, const TilePart* __restrict__ parts) {
  extern __shared__ __align__(16) char memory[];
  const TilePart part = parts[blockIdx.x];
  compute_wide_tile(*reinterpret_cast<WideTiles<T, Shape::kColumns, Shape::kRows>*>(memory),
                    sum_of_row<T>(item, item.rows[part.item / 2], part.item % 2 != 0),
                    part.row * Shape::kRows, part.first, part.end);
}
/// block.x, block.y: the tile of all X_i.
template <class T, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    joint_sums_kernel(ColumnItem item) {
  extern __shared__ __align__(16) char memory[];
  const WideItem sum = sum_of_rows<T>(item);
  const int n0 = blockIdx.y * Shape::kColumns;
  compute_wide_tile(*reinterpret_cast<WideTiles<T, Shape::kColumns, Shape::kRows>*>(memory), sum,
                    blockIdx.x * Shape::kRows, n0, min(n0 + Shape::kColumns, sum.n));
}

template <class T>
template <class Shape>
void CudaTileOps<T>::launch_tall(const std::vector<TallItem>& items) {
  const std::vector<TilePart> parts = parts_of(items, Shape::kRows, Shape::kColumns);
  if (parts.empty()) return;
  const auto kernel = tall_products_kernel<D, Shape>;
  constexpr int kBytes = sizeof(TallTiles<D, Shape::kColumns, Shape::kRows>);
  store_.upload.keep_together({bytes_of(items), bytes_of(parts)});
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "products of long vectors");
  kernel<<<static_cast<unsigned>(parts.size()), Shape::kThreads, kBytes, stream_>>>(send(items),
                                                                                    send(parts));
  checked("products of long vectors");
}

template <class T>
void CudaTileOps<T>::multiply_tall(const std::vector<TallItem>& items) {
  using S = Shapes<D>;
  std::vector<TallItem> narrow, wide, tall;
  for (const TallItem& item : items)
    (item.n <= S::Narrow::kColumns ? narrow : item.m < kLeastTall ? wide : tall).push_back(item);
  launch_tall<typename S::Narrow>(narrow);
  launch_tall<typename S::Wide>(wide);
  launch_tall<typename S::Tall>(tall);
}

template <class T>
template <class Shape>
void CudaTileOps<T>::launch_sums(const ColumnItem& item, const std::vector<TilePart>& parts) {
  if (parts.empty()) return;
  const auto kernel = column_sums_kernel<D, Shape>;
  constexpr int kBytes = sizeof(WideTiles<D, Shape::kColumns, Shape::kRows>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "samples of a block column");
  kernel<<<static_cast<unsigned>(parts.size()), Shape::kThreads, kBytes, stream_>>>(item,
                                                                                    send(parts));
  checked("samples of a block column");
}
template <class T>
void CudaTileOps<T>::launch_joint_sums(const ColumnItem& item) {
  using Shape = typename Shapes<D>::Joint;
  const auto tiles = [](int elements, int step) {
    return static_cast<unsigned>((elements + step - 1) / step);
  };
  const auto kernel = joint_sums_kernel<D, Shape>;
  constexpr int kBytes = sizeof(WideTiles<D, Shape::kColumns, Shape::kRows>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "samples of a block column");
  kernel<<<dim3(tiles(item.order, Shape::kRows), tiles(item.joint_columns, Shape::kColumns)),
           Shape::kThreads, kBytes, stream_>>>(item);
  checked("samples of a block column");
}

template <class T>
void CudaTileOps<T>::multiply_middle(const ColumnItem& item, int64_t rows) {
  if (item.to == item.from) return;
  constexpr int kColumns = Shapes<D>::Wide::kColumns, kBytes = sizeof(MiddleTiles<D, kColumns>);
  // For one block column each tile has its own block; for many, a block has several tiles.
  constexpr int kFewParts = 6, kManyParts = 16;
  const int groups = (item.to - item.from + kMiddleItems - 1) / kMiddleItems;
  const int parts = groups > 1 ? kFewParts : kManyParts;
  const auto kernel = middle_products_kernel<D, kColumns>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "middle products");
  kernel<<<dim3(static_cast<unsigned>(groups), static_cast<unsigned>(rows),
                static_cast<unsigned>(2 * parts)),
           kProductThreads, kBytes, stream_>>>(item, parts);
  checked("middle products");
}

template <class T>
void CudaTileOps<T>::sample_column(const backend::ColumnSamples<T>& column) {
  using Shape = typename Shapes<D>::Wide;
  ColumnPlan<T> plan(column, finished_, kLeastJoint);
  const Buffer<T> scratch = this->buffer(plan.carve(nullptr));
  plan.carve(scratch.get());
  multiply_tall(plan.items);
  // The terms of A_ik, which precede the joint product of all X_i, and the sums of rows.
  std::vector<TilePart> own, sums;
  add_parts_of_sums(plan.rows, false, column.order, Shape::kRows, Shape::kColumns, sums);
  add_parts_of_sums(plan.rows, true, column.order, Shape::kRows, Shape::kColumns,
                    plan.is_joint ? own : sums);
  store_.upload.keep_together({bytes_of(plan.rows), bytes_of(plan.G), bytes_of(plan.columns),
                               bytes_of(own), bytes_of(sums)});
  ColumnItem item = plan.item();
  item.rows = send(plan.rows);
  item.G = send(plan.G);
  item.columns = send(plan.columns);
  launch_sums<Shape>(item, own);
  multiply_middle(item, std::ssize(plan.rows));
  if (!plan.is_joint) return launch_sums<Shape>(item, sums);
  // The two launches run concurrently: blocks of the second start as blocks of the first exit.
  const Strand& strand = store_.strand(Store::sums_ahead);
  check(cudaEventRecord(strand.begun, stream_), "sums");
  check(cudaStreamWaitEvent(strand.stream, strand.begun, 0), "sums");
  {
    const OnStream beside(stream_, strand.stream);
    launch_joint_sums(item);
  }
  check(cudaEventRecord(strand.ended, strand.stream), "sums");
  launch_sums<Shape>(item, sums);
  check(cudaStreamWaitEvent(stream_, strand.ended, 0), "sums");
}
template <class T>
void CudaTileOps<T>::finish_column(const backend::FinishedColumn<T>& column) {
  const auto tiles = static_cast<size_t>(column.tiles);
  if (column.k == 0) {
    finished_ = FinishedColumns(static_cast<int>(tiles));
    vectors_.clear();
    samples_.clear();
    starts_ = Buffer<int>(static_cast<int64_t>(2 * tiles * (tiles + 1)), memory());
    of_rows_ = Buffer<const void*>(0, memory());
    of_samples_ = Buffer<const void*>(static_cast<int64_t>(tiles), memory());
    check(cudaMemsetAsync(starts_.get(), 0, sizeof(int) * 2 * tiles * (tiles + 1), stream_),
          "tables");
    finished_.on_device.starts = starts_.get();
    finished_.on_device.row_starts = starts_.get() + tiles * (tiles + 1);
    finished_.on_device.F = of_samples_.get();
    finished_.on_device.tiles = static_cast<int>(tiles);
    finished_.on_device.ld = static_cast<int>((column.psi_columns + 3) / 4 * 4);
  }
  if (column.rows.empty()) return;
  const bool has_dense = std::any_of(column.rows.begin(), column.rows.end(),
                                     [](const auto& row) { return row.tile.rank < 0; });
  if (has_dense && identity_.count() < column.order * column.order) {
    identity_ = this->buffer(column.order * column.order);
    set_zero(identity_.get(), column.order * column.order);
    add_to_diagonal(identity_.get(), column.order, 1);
  }
  const std::vector<FinishedTile> list = finished_.enter(column, identity_.get());
  const int all = list.back().start + list.back().rank;
  int64_t most = 0;
  for (const FinishedTile& tile : list) most = std::max<int64_t>(most, tile.row_start + tile.rank);
  reserve_rows(most);
  FactorTables& tables = finished_.on_device;
  vectors_.emplace_back(all, memory());
  finished_.V[column.k] = vectors_.back().get();
  enter_tiles_kernel<D><<<static_cast<unsigned>(list.size()), 32, 0, stream_>>>(
      send(list), static_cast<int>(list.size()), static_cast<int>(column.k),
      static_cast<int>(column.order), tables.tiles, tables.most_of_row, starts_.get(),
      starts_.get() + tiles * (tiles + 1), vectors_.back().get(), of_rows_.get());
  checked("tables");
  samples_.push_back(this->buffer(int64_t{all} * tables.ld));
  T* const F = samples_.back().get();
  check(cudaMemcpyAsync(of_samples_.get() + column.k, send(std::vector<const void*>{F}),
                        sizeof(void*), cudaMemcpyDeviceToDevice, stream_),
        "tables");
  std::vector<TallItem> items;
  for (const FinishedTile& tile : list)
    if (tile.rank > 0)
      items.push_back({nullptr, tile.U, column.psi, F + int64_t{tile.start} * tables.ld, tile.rank,
                       static_cast<int>(column.psi_columns), tile.rows, tile.rows,
                       static_cast<int>(column.ld), tables.ld, 1});
  multiply_tall(items);
}

/// Capacity for that many vectors in every block row.
template <class T>
void CudaTileOps<T>::reserve_rows(int64_t count) {
  FactorTables& tables = finished_.on_device;
  if (count <= tables.most_of_row) return;
  const int64_t larger = std::max<int64_t>(2 * count, 1024);
  Buffer<const void*> table(larger * tables.tiles, memory());
  if (tables.most_of_row > 0)
    check(cudaMemcpy2DAsync(table.get(), sizeof(void*) * static_cast<size_t>(larger),
                            of_rows_.get(), sizeof(void*) * static_cast<size_t>(tables.most_of_row),
                            sizeof(void*) * static_cast<size_t>(tables.most_of_row),
                            static_cast<size_t>(tables.tiles), cudaMemcpyDeviceToDevice, stream_),
          "tables");
  former_rows_.push_back(std::move(of_rows_));
  of_rows_ = std::move(table);
  tables.U = of_rows_.get();
  tables.most_of_row = larger;
}

}  // namespace chol::cuda::tlr
