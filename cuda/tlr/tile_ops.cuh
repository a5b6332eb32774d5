// backend::TileOps over the kernels of this folder.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/status_error.hpp"
#include "common/device_type.hpp"
#include "common/launch.hpp"
#include "tlr/auxiliary.cuh"
#include "tlr/column.cuh"
#include "tlr/column_plan.hpp"
#include "tlr/core.cuh"
#include "tlr/covariance.cuh"
#include "tlr/held_core.cuh"
#include "tlr/products.cuh"
#include "tlr/tile_ops.hpp"

namespace chol::cuda::tlr {

template <class T, int kBlocks>
__global__ void __launch_bounds__(kCoreThreads)
    cores_kernel(const CoreItem* __restrict__ items, double tolerance, bool wants_errors,
                 CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char memory[];
  const CoreItem item = items[blockIdx.x / kBlocks];
  const CoreResult result =
      CoreFactorization<T, kBlocks>(item, memory).run(tolerance, wants_errors);
  if (threadIdx.x == 0 && blockIdx.x % kBlocks == 0) results[item.place] = result;
}

template <class Shape>
__global__ void __launch_bounds__(Shape::kThreads)
    held_cores_kernel(const CoreItem* __restrict__ items, double tolerance,
                      CoreResult* __restrict__ results) {
  extern __shared__ __align__(16) char held_memory[];
  const CoreItem item = items[blockIdx.x / Shape::kBlocks];
  const CoreResult result =
      HeldFactorization<Shape>(item, *reinterpret_cast<HeldMemory<Shape>*>(held_memory))
          .run(tolerance);
  if (threadIdx.x == 0 && blockIdx.x % Shape::kBlocks == 0) results[item.place] = result;
}

template <class T>
__global__ void __launch_bounds__(kProductThreads)
    tall_products_kernel(const TallItem* __restrict__ items, const Part* __restrict__ parts) {
  extern __shared__ __align__(16) char memory[];
  const Part part = parts[blockIdx.x];
  compute_tall_tile(*reinterpret_cast<TallTiles<T>*>(memory), items[part.sum],
                    part.row * ProductShape<T>::kRows, part.column * TallTiles<T>::kColumns);
}

/// block.x, block.y: the tile of Y_i or X_i, block.z: i and which of the two.
template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads) column_sums_kernel(ColumnItem item) {
  extern __shared__ __align__(16) char memory[];
  const ColumnRow row = item.rows[blockIdx.z / 2];
  const WideItem sum = sum_of_row<T>(item, row, blockIdx.z % 2 != 0);
  const int m0 = blockIdx.x * ProductShape<T>::kRows, n0 = blockIdx.y * kColumns;
  if (m0 < sum.m && n0 < sum.n)
    compute_wide_tile(*reinterpret_cast<WideTiles<T, kColumns>*>(memory), sum, m0, n0);
}

/// Modifies a tile in host memory: see TileOps::make_definite().
template <class T>
void make_definite_on_host(T* tile, int64_t n, RealOf<T> least);

template <class T>
class CudaTileOps final : public backend::TileOps<T> {
  using D = Device<T>;
  using R = RealOf<T>;

 public:
  CudaTileOps(backend::Backend& backend, Store& store, int threads, cudaStream_t stream)
      : backend_(backend), store_(store), threads_(threads), stream_(stream), guard_(store.device) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &capture) == cudaSuccess &&
        capture != cudaStreamCaptureStatusNone)
      throw StatusError(Status::error(CHOL_STATUS_NOT_SUPPORTED,
                                      "calls on tile low rank matrices cannot be captured"));
  }
  ~CudaTileOps() override {
    store_.wait_for_side();
    cudaStreamSynchronize(stream_);
    store_.pool.hold(false);
  }

  int threads() const override { return threads_; }
  Memory* memory() const override { return &store_.pool; }
  bool reaches(const void* array) const override {
    return backend_.place_of(array) == backend::Place::device;
  }
  double default_workspace() const override { return 4e9; }
  bool has_cores() const override { return true; }
  void sample_column(const backend::ColumnSamples<T>& column) override;
  void finish_column(const backend::FinishedColumn<T>& column) override;

  void transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                int64_t ld_to) override;
  using backend::TileOps<T>::copy;
  void copy(const std::vector<backend::Copy<T>>& list) override;
  void set_zero(T* x, int64_t count) override {
    if (count > 0)
      check(cudaMemsetAsync(x, 0, sizeof(T) * static_cast<size_t>(count), stream_), "zeros");
  }
  using backend::TileOps<T>::multiply;
  void multiply(const backend::ProductGroups<T>& groups) override;
  void factor_cores(std::vector<backend::CoreFactor<T>>& list, double tolerance,
                    bool wants_errors) override;
  void make_hermitian(const std::vector<T*>& tiles, const std::vector<int64_t>& orders) override;
  void add_to_diagonal(T* A, int64_t n, R shift) override {
    add_to_diagonal_kernel<D><<<blocks_for(n), kThreads, 0, stream_>>>(device(A), n, shift);
    checked("shift");
  }
  void read_diagonal(const T* A, int64_t n, R* host) override;
  int potrf(T* A, int64_t n) override;
  bool factors_beside() const override { return true; }
  void begin_diagonal(T* A, int64_t n, T* inverses, T* x, int steps) override;
  backend::DiagonalFactor end_diagonal() override;
  void make_definite(T* A, int64_t n, R least) override;
  int64_t inverse_elements(int64_t n) const override { return n * n; }
  void invert_blocks(const T* L, int64_t n, T* inverses) override;
  void solve(const std::vector<backend::TriangularSolve<T>>& list) override;
  double norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps) override;
  void random(T* block, int64_t count, uint64_t seed) override {
    random_kernel<D><<<blocks_for(count), kThreads, 0, stream_>>>(device(block), count, seed);
    checked("random numbers");
  }
  void evaluate(const backend::Covariance& covariance,
                const std::vector<backend::Block<T>>& blocks) override;
  void multiply_covariance(const backend::Covariance& covariance, const T* x, T* y) override;
  double inner(const T* x, const T* y, int64_t n) override;
  void scale(T* x, int64_t n, R factor) override {
    scale_kernel<D><<<blocks_for(n), kThreads, 0, stream_>>>(device(x), n, factor);
    checked("scale");
  }
  void combine(R a, const T* x, R b, T* y, int64_t n) override {
    combine_kernel<D><<<blocks_for(n), kThreads, 0, stream_>>>(a, device(x), b, device(y), n);
    checked("combine");
  }
  void for_each(int64_t count, const std::function<void(int64_t)>& body) override;

 private:
  static D* device(T* x) { return reinterpret_cast<D*>(x); }
  static const D* device(const T* x) { return reinterpret_cast<const D*>(x); }
  static unsigned blocks_for(int64_t count) {
    return static_cast<unsigned>(std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, 4096));
  }
  void checked(const char* kernel) const { check(cudaGetLastError(), kernel); }
  void wait(const char* doing) { check(cudaStreamSynchronize(stream_), doing); }
  /// Elements of device memory, on the host; valid until the next call.
  template <class E>
  const E* read(const E* from, size_t count) {
    E* const to = static_cast<E*>(store_.upload.results(sizeof(E) * count));
    check(cudaMemcpyAsync(to, from, sizeof(E) * count, cudaMemcpyDeviceToHost, stream_), "results");
    wait("results");
    return to;
  }
  template <class E>
  const E* send(const std::vector<E>& list) {
    return store_.upload.send(list, stream_);
  }

  void add_inverse_products(const backend::TriangularSolve<T>& item, const T* from, T* to,
                            int64_t ld_to, backend::ProductGroups<T>& groups) const;
  void queue_potrf(T* A, int64_t n, int* info);
  /// sums: of 2 kInnerBlocks blocks.
  void queue_norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps,
                             double* sums);
  static double ratio_of_norms(const double* sums);
  /// sums: of kInnerBlocks blocks.
  void queue_inner(const T* x, const T* y, int64_t n, double* sums);

  /// Whether a product is one of long vectors.
  static bool is_tall(const backend::Product<T>& p) {
    return p.adjoint_a && !p.adjoint_b && p.sign == 0 && p.k >= 64 && p.n > kMostVectors;
  }
  void multiply_tall(const std::vector<TallItem>& items);
  void reserve_rows(int64_t count);

  backend::Backend& backend_;
  Store& store_;
  int threads_;
  cudaStream_t stream_;
  DeviceGuard guard_;
  /// Of the block columns of the factor that are finished.
  FinishedColumns finished_;
  Buffer<int> starts_;
  Buffer<const void*> of_rows_, of_samples_;
  std::vector<Buffer<const void*>> vectors_;
  std::vector<Buffer<T>> samples_;
  Buffer<T> identity_;
};

template <class T>
void CudaTileOps<T>::transfer(int64_t rows, int64_t columns, const T* from, int64_t ld_from, T* to,
                              int64_t ld_to) {
  if (rows == 0 || columns == 0) return;
  const size_t width = sizeof(T) * static_cast<size_t>(rows);
  // Vectors are one row to the copy engine, which has a largest width of a pitch.
  if (columns == 1 || (ld_from == rows && ld_to == rows))
    check(
        cudaMemcpyAsync(to, from, width * static_cast<size_t>(columns), cudaMemcpyDefault, stream_),
        "copy");
  else
    check(cudaMemcpy2DAsync(to, sizeof(T) * static_cast<size_t>(ld_to), from,
                            sizeof(T) * static_cast<size_t>(ld_from), width,
                            static_cast<size_t>(columns), cudaMemcpyDefault, stream_),
          "copy");
  wait("copy");
}

template <class T>
void CudaTileOps<T>::copy(const std::vector<backend::Copy<T>>& list) {
  constexpr size_t kMost = 32768;
  std::vector<CopyItem> items;
  for (size_t first = 0; first < list.size(); first += kMost) {
    items.clear();
    int64_t largest = 1;
    for (size_t i = first; i < std::min(list.size(), first + kMost); ++i) {
      const backend::Copy<T>& c = list[i];
      items.push_back({c.from, c.to, c.rows, c.columns, c.ld_from, c.ld_to, c.adjoint});
      largest = std::max(largest, c.rows * c.columns);
    }
    const dim3 grid(static_cast<unsigned>(std::clamp<int64_t>(largest / 2048, 1, 256)),
                    static_cast<unsigned>(items.size()));
    copy_kernel<D><<<grid, kThreads, 0, stream_>>>(send(items));
    checked("copy");
  }
}

template <class T>
void CudaTileOps<T>::multiply(const backend::ProductGroups<T>& groups) {
  std::vector<Term> terms;
  std::vector<Sum> sums;
  std::vector<Part> vectors, narrow, wide;
  std::vector<TallItem> tall;
  constexpr bool has_wide = sizeof(D) < 16;
  for (int64_t g = 0; g < groups.groups(); ++g) {
    if (groups.begin(g) == groups.end(g)) continue;
    const backend::Product<T>& first = groups.product(groups.begin(g));
    if (first.m == 0 || first.n == 0) continue;
    if (groups.end(g) == groups.begin(g) + 1 && is_tall(first)) {
      tall.push_back({nullptr, first.A, first.B, first.C, static_cast<int>(first.m),
                      static_cast<int>(first.n), static_cast<int>(first.k),
                      static_cast<int>(first.lda), static_cast<int>(first.ldb), 1,
                      static_cast<int>(first.ldc)});
      continue;
    }
    Sum sum{first.C,
            static_cast<int>(first.m),
            static_cast<int>(first.n),
            static_cast<int>(first.ldc),
            static_cast<int>(terms.size()),
            0,
            first.sign == 0};
    for (int64_t i = groups.begin(g); i < groups.end(g); ++i) {
      const backend::Product<T>& p = groups.product(i);
      if (p.k == 0) continue;
      terms.push_back({p.A, p.B, static_cast<int>(p.k), static_cast<int>(p.lda),
                       static_cast<int>(p.ldb),
                       (p.adjoint_a ? kAdjointA : 0) | (p.adjoint_b ? kAdjointB : 0) |
                           (p.sign < 0 ? kSubtract : 0)});
    }
    sum.count = static_cast<int>(terms.size()) - sum.first;
    if (sum.count == 0 && !sum.overwrite) continue;
    const bool is_vector = sum.n <= kMostVectors &&
                           std::all_of(terms.begin() + sum.first, terms.end(),
                                       [](const Term& term) { return !(term.flags & kAdjointB); });
    if (is_vector) {
      for (int i = 0; i < (sum.m + 31) / 32; ++i)
        vectors.push_back({static_cast<int>(sums.size()), static_cast<uint16_t>(i), 0});
      sums.push_back(sum);
      continue;
    }
    const bool is_wide = has_wide && sum.n > 32;
    const int columns = is_wide ? 64 : 32;
    for (int j = 0; j < (sum.n + columns - 1) / columns; ++j)
      for (int i = 0; i < (sum.m + 63) / 64; ++i)
        (is_wide ? wide : narrow)
            .push_back({static_cast<int>(sums.size()), static_cast<uint16_t>(i),
                        static_cast<uint16_t>(j)});
    sums.push_back(sum);
  }
  multiply_tall(tall);
  if (sums.empty()) return;
  const Term* const sent_terms = send(terms);
  const Sum* const sent_sums = send(sums);
  if (!vectors.empty())
    vectors_kernel<D><<<static_cast<unsigned>(vectors.size()), kVectorThreads, 0, stream_>>>(
        sent_terms, sent_sums, send(vectors));
  if (!narrow.empty())
    products_kernel<D, 32><<<static_cast<unsigned>(narrow.size()), kProductThreads, 0, stream_>>>(
        sent_terms, sent_sums, send(narrow));
  if constexpr (has_wide)
    if (!wide.empty())
      products_kernel<D, 64><<<static_cast<unsigned>(wide.size()), kProductThreads, 0, stream_>>>(
          sent_terms, sent_sums, send(wide));
  checked("products");
}

template <class T>
void CudaTileOps<T>::multiply_tall(const std::vector<TallItem>& items) {
  const std::vector<Part> parts = parts_of(items, ProductShape<D>::kRows, TallTiles<D>::kColumns);
  if (parts.empty()) return;
  const auto kernel = tall_products_kernel<D>;
  constexpr int kBytes = sizeof(TallTiles<D>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "products of long vectors");
  kernel<<<static_cast<unsigned>(parts.size()), kProductThreads, kBytes, stream_>>>(send(items),
                                                                                    send(parts));
  checked("products of long vectors");
}

template <class T>
void CudaTileOps<T>::sample_column(const backend::ColumnSamples<T>& column) {
  constexpr int kColumns = sizeof(D) < 16 ? 64 : 32;
  ColumnPlan<T> plan(column, finished_);
  const Buffer<T> scratch = this->buffer(plan.carve(nullptr));
  plan.carve(scratch.get());
  multiply_tall(plan.items);
  const ColumnItem item{finished_.on_device,
                        send(plan.rows),
                        plan.G.empty() ? nullptr : send(plan.G),
                        plan.X,
                        static_cast<int>(column.k),
                        static_cast<int>(column.order),
                        static_cast<int>(plan.ldx)};
  const auto height = static_cast<unsigned>(plan.rows.size());
  if (column.k > 0) {
    middle_products_kernel<D, kColumns>
        <<<dim3(static_cast<unsigned>(column.k), height, 2), kProductThreads, 0, stream_>>>(item);
    checked("middle products");
  }
  const auto tiles = [](int64_t elements, int64_t step) {
    return static_cast<unsigned>((elements + step - 1) / step);
  };
  const auto kernel = column_sums_kernel<D, kColumns>;
  constexpr int kBytes = sizeof(WideTiles<D, kColumns>);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
        "samples of a block column");
  kernel<<<dim3(tiles(plan.most_order, ProductShape<D>::kRows),
                tiles(std::max(plan.most_samples, plan.most_left_samples), kColumns), 2 * height),
           kProductThreads, kBytes, stream_>>>(item);
  checked("samples of a block column");
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
  of_rows_ = std::move(table);
  tables.U = of_rows_.get();
  tables.most_of_row = larger;
}

/// Cores whose columns registers hold go there, of one block or of a cluster; the others, and those
/// whose errors are asked for, keep them in memory.
template <class T>
void CudaTileOps<T>::factor_cores(std::vector<backend::CoreFactor<T>>& list, double tolerance,
                                  bool wants_errors) {
  using Cores = CoreShapes<D>;
  if (list.empty()) return;
  const auto limit = static_cast<size_t>(block_shared_limit());
  const bool has_clusters = device_attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
  std::vector<CoreItem> small, middle, large, alone, together;
  size_t alone_bytes = 0, together_bytes = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    const backend::CoreFactor<T>& f = list[i];
    const int rows = static_cast<int>(f.rows), columns = static_cast<int>(f.columns);
    CoreItem item{f.S,
                  f.scratch,
                  f.scratch + f.columns * (f.rows + f.columns),
                  f.T_,
                  f.Q,
                  rows,
                  columns,
                  static_cast<int>(i),
                  true};
    const auto fits = [&](auto shape) {
      return !wants_errors && rows <= decltype(shape)::kMostRows &&
             columns <= decltype(shape)::kMostColumns;
    };
    const int own = (columns + kCoreClusterBlocks - 1) / kCoreClusterBlocks;
    if (fits(typename Cores::Small())) {
      small.push_back(item);
    } else if (fits(typename Cores::Middle())) {
      middle.push_back(item);
    } else if (has_clusters && fits(typename Cores::Large())) {
      large.push_back(item);
    } else if (has_clusters) {
      item.in_shared = CoreMemory<D>::bytes(rows, columns, own, true) <= limit;
      together_bytes =
          std::max(together_bytes, CoreMemory<D>::bytes(rows, columns, own, item.in_shared));
      together.push_back(item);
    } else {
      item.in_shared = CoreMemory<D>::bytes(rows, columns, columns, true) <= limit;
      alone_bytes =
          std::max(alone_bytes, CoreMemory<D>::bytes(rows, columns, columns, item.in_shared));
      alone.push_back(item);
    }
  }
  Buffer<CoreResult> results(static_cast<int64_t>(list.size()), memory());
  const auto launch_cores = [&](const std::vector<CoreItem>& items, auto kernel, int threads,
                                unsigned blocks, size_t bytes, auto... arguments) {
    if (items.empty()) return;
    check(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cores");
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(items.size()) * blocks);
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = bytes;
    config.stream = stream_;
    config.attrs = &attribute;
    config.numAttrs = blocks > 1 ? 1 : 0;
    check(cudaLaunchKernelEx(&config, kernel, send(items), tolerance, arguments..., results.get()),
          "cores");
    checked(blocks > 1 ? "cores of clusters" : "cores of blocks");
  };
  const auto launch_held = [&](const std::vector<CoreItem>& items, auto shape) {
    using Shape = decltype(shape);
    launch_cores(items, held_cores_kernel<Shape>, Shape::kThreads, Shape::kBlocks,
                 sizeof(HeldMemory<Shape>));
  };
  launch_held(large, typename Cores::Large());
  launch_held(middle, typename Cores::Middle());
  launch_held(small, typename Cores::Small());
  launch_cores(together, cores_kernel<D, kCoreClusterBlocks>, kCoreThreads, kCoreClusterBlocks,
               together_bytes, wants_errors);
  launch_cores(alone, cores_kernel<D, 1>, kCoreThreads, 1, alone_bytes, wants_errors);
  const CoreResult* const found = read(results.get(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    list[i].rank = found[i].rank;
    list[i].is_sufficient = found[i].is_sufficient != 0;
    list[i].error = found[i].error;
    list[i].spike = found[i].spike;
  }
}

template <class T>
void CudaTileOps<T>::make_hermitian(const std::vector<T*>& tiles,
                                    const std::vector<int64_t>& orders) {
  std::vector<CopyItem> items;
  for (size_t t = 0; t < tiles.size(); ++t)
    items.push_back({nullptr, tiles[t], orders[t], orders[t], orders[t], orders[t], false});
  constexpr size_t kMost = 32768;
  for (size_t first = 0; first < items.size(); first += kMost) {
    const auto end = items.begin() + static_cast<int64_t>(std::min(items.size(), first + kMost));
    const std::vector<CopyItem> part(items.begin() + static_cast<int64_t>(first), end);
    hermitian_kernel<D>
        <<<dim3(64, static_cast<unsigned>(part.size())), kThreads, 0, stream_>>>(send(part));
    checked("diagonal tiles");
  }
}

template <class T>
void CudaTileOps<T>::read_diagonal(const T* A, int64_t n, R* host) {
  if (n == 0) return;
  Buffer<R> diagonal(n, memory());
  read_diagonal_kernel<D><<<blocks_for(n), kThreads, 0, stream_>>>(device(A), n, diagonal.get());
  checked("diagonal");
  std::copy_n(read(diagonal.get(), static_cast<size_t>(n)), n, host);
}

template <class T>
int CudaTileOps<T>::potrf(T* A, int64_t n) {
  const Buffer<int> info(1, memory());
  queue_potrf(A, n, info.get());
  return *read(info.get(), 1);
}

template <class T>
void CudaTileOps<T>::queue_potrf(T* A, int64_t n, int* info) {
  const backend::Problem<T> problem{.routine = Routine::potrf,
                                    .form = Form::one,
                                    .uplo = CHOL_LOWER,
                                    .sizes = {1, n, 0},
                                    .A = MatrixBatch<T>::strided(A, n, 0),
                                    .B = {},
                                    .info = info};
  backend::Solver<T>& solver = backend_.solver<T>();
  const PlanTable& plans = backend_.tuning().plans(Routine::potrf, Form::one, precision_letter<T>);
  backend::Resources resources;
  resources.stream = stream_;
  resources.workspace_bytes = solver.workspace_bytes(problem, plans, resources);
  const Buffer<char> workspace(static_cast<int64_t>(resources.workspace_bytes), memory());
  resources.workspace = workspace.get();
  const Status status = solver.run(problem, plans, resources);
  if (!status.ok()) throw StatusError(status);
  checked("potrf");
  clear_upper_kernel<D><<<blocks_for(n * n), kThreads, 0, stream_>>>(device(A), n);
  checked("diagonal tile");
}

/// On the other stream, which begins where this one is. What is released until both have met is
/// kept from use.
template <class T>
void CudaTileOps<T>::begin_diagonal(T* A, int64_t n, T* inverses, T* x, int steps) {
  Side& side = store_.side();
  check(cudaEventRecord(side.begun, stream_), "diagonal tile");
  check(cudaStreamWaitEvent(side.stream, side.begun, 0), "diagonal tile");
  store_.pool.hold(true);
  std::swap(stream_, side.stream);
  try {
    const Buffer<char> results(sizeof(int) + 8 + sizeof(double) * 2 * kInnerBlocks, memory());
    auto* const sums = reinterpret_cast<double*>(results.get());
    auto* const info = reinterpret_cast<int*>(sums + 2 * kInnerBlocks);
    queue_potrf(A, n, info);
    invert_blocks(A, n, inverses);
    queue_norm_of_inverse(A, inverses, n, x, steps, sums);
    check(cudaMemcpyAsync(side.results, sums, sizeof(double) * (2 * kInnerBlocks + 1),
                          cudaMemcpyDeviceToHost, stream_),
          "diagonal tile");
    check(cudaEventRecord(side.ended, stream_), "diagonal tile");
  } catch (...) {
    std::swap(stream_, side.stream);
    throw;
  }
  std::swap(stream_, side.stream);
}

template <class T>
backend::DiagonalFactor CudaTileOps<T>::end_diagonal() {
  Side& side = store_.side();
  check(cudaStreamWaitEvent(stream_, side.ended, 0), "diagonal tile");
  check(cudaEventSynchronize(side.ended), "diagonal tile");
  store_.pool.hold(false);
  const auto* const sums = static_cast<const double*>(side.results);
  return {*reinterpret_cast<const int*>(sums + 2 * kInnerBlocks), ratio_of_norms(sums)};
}

template <class T>
void CudaTileOps<T>::make_definite(T* A, int64_t n, R least) {
  const Buffer<T> tile(n * n);
  transfer(n, n, A, n, tile.get(), n);
  make_definite_on_host(tile.get(), n, least);
  transfer(n, n, tile.get(), n, A, n);
}

/// The inverse of the whole factor: of small blocks on the diagonal, then of pairs of blocks,
/// [X1 0; -X2 L21 X1, X2], of twice the order each time.
template <class T>
void CudaTileOps<T>::invert_blocks(const T* L, int64_t n, T* inverses) {
  constexpr int kOrder = sizeof(D) == 16 ? 32 : 64;
  set_zero(inverses, n * n);
  invert_small_kernel<D>
      <<<static_cast<unsigned>((n + kOrder - 1) / kOrder), kOrder, sizeof(D) * kOrder * kOrder,
         stream_>>>(device(L), n, kOrder, device(inverses));
  checked("inverse");
  const Buffer<T> scratch = this->buffer(n * n / 2);
  for (int64_t order = kOrder; order < n; order *= 2) {
    backend::ProductSteps<T> steps;
    T* free = scratch.get();
    for (int64_t first = 0; first + order < n; first += 2 * order) {
      const int64_t second = first + order, rows = std::min(order, n - second);
      steps.add(0, {false, false, 0, rows, order, order, L + second + first * n, n,
                    inverses + first + first * n, n, free, rows});
      steps.add(1, {false, false, -1, rows, order, rows, inverses + second + second * n, n, free,
                    rows, inverses + second + first * n, n});
      free += rows * order;
    }
    multiply(steps);
  }
}

/// To := inverse(L) From or inverse(L^H) From, of which the zeros of the inverse are left out.
template <class T>
void CudaTileOps<T>::add_inverse_products(const backend::TriangularSolve<T>& item, const T* from,
                                          T* to, int64_t ld_to,
                                          backend::ProductGroups<T>& groups) const {
  constexpr int64_t kRows = 128;
  for (int64_t first = 0; first < item.n; first += kRows) {
    const int64_t rows = std::min(kRows, item.n - first);
    groups.begin_group();
    if (item.adjoint)
      groups.add({true, false, 0, rows, item.columns, item.n - first,
                  item.inverses + first + first * item.n, item.n, from + first, item.n, to + first,
                  ld_to});
    else
      groups.add({false, false, 0, rows, item.columns, first + rows, item.inverses + first, item.n,
                  from, item.n, to + first, ld_to});
  }
}

template <class T>
void CudaTileOps<T>::solve(const std::vector<backend::TriangularSolve<T>>& list) {
  int64_t elements = 0;
  for (const auto& item : list) elements += item.n * item.columns;
  const Buffer<T> right = this->buffer(elements);
  std::vector<backend::Copy<T>> copies;
  backend::ProductGroups<T> groups;
  T* free = right.get();
  for (const auto& item : list) {
    if (item.columns == 0 || item.n == 0) continue;
    copies.push_back({false, item.n, item.columns, item.V, item.ldv, free, item.n});
    add_inverse_products(item, free, item.V, item.ldv, groups);
    free += item.n * item.columns;
  }
  copy(copies);
  multiply(groups);
}

template <class T>
double CudaTileOps<T>::norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps) {
  const Buffer<double> sums(2 * kInnerBlocks, memory());
  queue_norm_of_inverse(L, inverses, n, x, steps, sums.get());
  return ratio_of_norms(read(sums.get(), 2 * kInnerBlocks));
}

/// Without scaling on the way: few steps of norms that the factorization has let pass.
template <class T>
void CudaTileOps<T>::queue_norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x,
                                           int steps, double* sums) {
  const Buffer<T> y = this->buffer(n);
  for (int step = 0; step < steps; ++step) {
    if (step == steps - 1) queue_inner(x, x, n, sums);
    backend::ProductGroups<T> down, up;
    add_inverse_products({L, inverses, n, false, nullptr, 1, n}, x, y.get(), n, down);
    add_inverse_products({L, inverses, n, true, nullptr, 1, n}, y.get(), x, n, up);
    multiply(down);
    multiply(up);
  }
  queue_inner(x, x, n, sums + kInnerBlocks);
}
template <class T>
double CudaTileOps<T>::ratio_of_norms(const double* sums) {
  double before = 0, after = 0;
  for (int block = 0; block < kInnerBlocks; ++block) {
    before += sums[block];
    after += sums[kInnerBlocks + block];
  }
  return std::sqrt(after / before);
}

template <class T>
void CudaTileOps<T>::evaluate(const backend::Covariance& covariance,
                              const std::vector<backend::Block<T>>& blocks) {
  constexpr size_t kMost = 32768;
  const double log_scale = log_matern_scale(covariance);
  for (size_t first = 0; first < blocks.size(); first += kMost) {
    std::vector<BlockItem> items;
    int64_t rows = 1, columns = 1;
    for (size_t i = first; i < std::min(blocks.size(), first + kMost); ++i) {
      const backend::Block<T>& b = blocks[i];
      items.push_back({b.elements, b.row, b.column, b.rows, b.columns, b.ld});
      rows = std::max(rows, b.rows);
      columns = std::max(columns, b.columns);
    }
    const dim3 grid(static_cast<unsigned>((rows + kCovarianceThreads - 1) / kCovarianceThreads),
                    static_cast<unsigned>((columns + kCovarianceColumns - 1) / kCovarianceColumns),
                    static_cast<unsigned>(items.size()));
    covariance_kernel<D>
        <<<grid, kCovarianceThreads, 0, stream_>>>(covariance, log_scale, send(items));
    checked("covariances");
  }
}

template <class T>
void CudaTileOps<T>::multiply_covariance(const backend::Covariance& covariance, const T* x, T* y) {
  constexpr int kParts = 16;
  const int64_t n = covariance.n;
  const Buffer<T> partial = this->buffer(n * kParts);
  const auto blocks = static_cast<unsigned>((n + kCovarianceThreads - 1) / kCovarianceThreads);
  covariance_product_kernel<D><<<dim3(blocks, kParts), kCovarianceThreads, 0, stream_>>>(
      covariance, log_matern_scale(covariance), device(x), device(partial.get()));
  sum_parts_kernel<D>
      <<<blocks, kCovarianceThreads, 0, stream_>>>(device(partial.get()), kParts, n, device(y));
  checked("product with covariances");
}

template <class T>
void CudaTileOps<T>::queue_inner(const T* x, const T* y, int64_t n, double* sums) {
  inner_kernel<D><<<kInnerBlocks, kThreads, 0, stream_>>>(device(x), device(y), n, sums);
  checked("inner product");
}

template <class T>
double CudaTileOps<T>::inner(const T* x, const T* y, int64_t n) {
  const Buffer<double> sums(kInnerBlocks, memory());
  queue_inner(x, y, n, sums.get());
  const double* const of_blocks = read(sums.get(), kInnerBlocks);
  double sum = 0;
  for (int block = 0; block < kInnerBlocks; ++block) sum += of_blocks[block];
  return sum;
}

template <class T>
void CudaTileOps<T>::for_each(int64_t count, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::jthread> helpers;
  for (int64_t t = 1; t < std::min<int64_t>(threads_, count); ++t) helpers.emplace_back(work);
  work();
}

template <class T>
std::unique_ptr<backend::TileOps<T>> make_tile_ops(backend::Backend& backend, Store& store,
                                                   int threads, cudaStream_t stream) {
  return std::make_unique<CudaTileOps<T>>(backend, store, threads, stream);
}

}  // namespace chol::cuda::tlr

#define CHOL_INSTANTIATE_TLR(T)                                                          \
  template std::unique_ptr<chol::backend::TileOps<T>> chol::cuda::tlr::make_tile_ops<T>( \
      chol::backend::Backend & backend, chol::cuda::tlr::Store & store, int threads,     \
      cudaStream_t stream);
