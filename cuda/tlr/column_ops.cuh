// Samples of block columns, and products of long vectors: see column.cuh.
#pragma once

#include "tlr/device_ops.cuh"

namespace chol::cuda::tlr {

template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads, kProductBlocks<T>)
    tall_products_kernel(const TallItem* __restrict__ items, const Part* __restrict__ parts) {
  extern __shared__ __align__(16) char memory[];
  const Part part = parts[blockIdx.x];
  compute_tall_tile(*reinterpret_cast<TallTiles<T, kColumns>*>(memory), items[part.sum],
                    part.row * ProductShape<T>::kRows, part.column * kColumns);
}

template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads, sizeof(T) == 16 ? 2 : 4)
    middle_products_kernel(ColumnItem item) {
  extern __shared__ __align__(16) char memory[];
  compute_middle_products(*reinterpret_cast<MiddleTiles<T, kColumns>*>(memory), item);
}

/// block.x, block.y: the tile of Y_i or X_i, block.z: i and which of the two.
template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads, kProductBlocks<T>)
    column_sums_kernel(ColumnItem item) {
  extern __shared__ __align__(16) char memory[];
  const ColumnRow row = item.rows[blockIdx.z / 2];
  const WideItem sum = sum_of_row<T>(item, row, blockIdx.z % 2 != 0);
  const int m0 = blockIdx.x * ProductShape<T>::kRows, n0 = blockIdx.y * kColumns;
  if (m0 < sum.m && n0 < sum.n)
    compute_wide_tile(*reinterpret_cast<WideTiles<T, kColumns>*>(memory), sum, m0, n0);
}

template <class T>
template <int kColumns>
void CudaTileOps<T>::launch_tall(const std::vector<TallItem>& items) {
  const std::vector<Part> parts = parts_of(items, ProductShape<D>::kRows, kColumns);
  if (parts.empty()) return;
  const auto kernel = tall_products_kernel<D, kColumns>;
  constexpr int kBytes = sizeof(TallTiles<D, kColumns>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "products of long vectors");
  kernel<<<static_cast<unsigned>(parts.size()), kProductThreads, kBytes, stream_>>>(send(items),
                                                                                    send(parts));
  checked("products of long vectors");
}

template <class T>
void CudaTileOps<T>::multiply_tall(const std::vector<TallItem>& items) {
  constexpr int kNarrow = 32;
  std::vector<TallItem> narrow, wide;
  for (const TallItem& item : items) (item.n > kNarrow ? wide : narrow).push_back(item);
  launch_tall<kNarrow>(narrow);
  launch_tall<sizeof(D) < 16 ? 64 : kNarrow>(wide);
}

template <class T>
template <int kColumns>
void CudaTileOps<T>::launch_sums(const ColumnItem& item, const ColumnPlan<T>& plan) {
  const auto tiles = [](int64_t elements, int64_t step) {
    return static_cast<unsigned>((elements + step - 1) / step);
  };
  const auto kernel = column_sums_kernel<D, kColumns>;
  constexpr int kBytes = sizeof(WideTiles<D, kColumns>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "samples of a block column");
  kernel<<<dim3(tiles(plan.most_order, ProductShape<D>::kRows),
                tiles(std::max(plan.most_samples, plan.most_left_samples), kColumns),
                static_cast<unsigned>(2 * plan.rows.size())),
           kProductThreads, kBytes, stream_>>>(item);
  checked("samples of a block column");
}

template <class T>
void CudaTileOps<T>::sample_column(const backend::ColumnSamples<T>& column) {
  constexpr bool is_small = sizeof(D) < 16;
  ColumnPlan<T> plan(column, finished_);
  const Buffer<T> scratch = this->buffer(plan.carve(nullptr));
  plan.carve(scratch.get());
  multiply_tall(plan.items);
  const ColumnItem item{finished_.on_device,
                        send(plan.rows),
                        plan.G.empty() ? nullptr : send(plan.G),
                        plan.X,
                        static_cast<int>(column.k),
                        static_cast<int>(column.from),
                        static_cast<int>(column.to),
                        static_cast<int>(column.order),
                        static_cast<int>(plan.ldx)};
  if (column.to > column.from) {
    constexpr int kColumns = is_small ? 64 : 32, kBytes = sizeof(MiddleTiles<D, kColumns>);
    const auto kernel = middle_products_kernel<D, kColumns>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
          "middle products");
    kernel<<<dim3(static_cast<unsigned>(column.to - column.from),
                  static_cast<unsigned>(plan.rows.size()), 2 * kMiddleParts),
             kProductThreads, kBytes, stream_>>>(item);
    checked("middle products");
  }
  // Columns of one tile read every vector once.
  if (is_small && plan.most_left_samples > 64)
    launch_sums<is_small ? 96 : 32>(item, plan);
  else
    launch_sums<is_small ? 64 : 32>(item, plan);
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

/// Room for so many vectors in every block row.
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
