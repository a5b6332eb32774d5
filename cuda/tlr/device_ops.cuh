// backend::TileOps on a device: the class and its short functions. The others are in basis_ops.cuh,
// column_ops.cuh, core_ops.cuh, diagonal_ops.cuh, pivot_ops.cuh, sweep_ops.cuh, tile_ops.cuh and
// wide_ops.cuh.
#pragma once

#include <algorithm>
#include <deque>

#include "base/status_error.hpp"
#include "common/device_type.hpp"
#include "common/launch.hpp"
#include "tlr/auxiliary.cuh"
#include "tlr/basis.cuh"
#include "tlr/blocked_core.cuh"
#include "tlr/column.cuh"
#include "tlr/column_plan.hpp"
#include "tlr/core.cuh"
#include "tlr/covariance.cuh"
#include "tlr/products.cuh"
#include "tlr/sweep.hpp"
#include "tlr/tile_ops.hpp"
#include "tlr/wide.hpp"

namespace chol::cuda::tlr {

/// Modifies a tile in host memory: see TileOps::make_definite().
template <class T>
void make_definite_on_host(T* tile, int64_t n, RealOf<T> least);

/// Replaces the current stream during the lifetime of this object.
class OnStream {
 public:
  OnStream(cudaStream_t& place, cudaStream_t stream) : place_(place), before_(place) {
    place = stream;
  }
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream() { place_ = before_; }

 private:
  cudaStream_t& place_;
  cudaStream_t before_;
};

/// Cores for one kernel launch, and the largest shared memory per block that they need.
template <class Item>
struct CoreClass {
  std::vector<Item> items;
  size_t bytes = 0;
  void add(const Item& item, size_t needed) {
    items.push_back(item);
    bytes = std::max(bytes, needed);
  }
};

template <class T>
class CudaTileOps final : public backend::TileOps<T> {
  using D = Device<T>;
  using R = RealOf<T>;

 public:
  CudaTileOps(backend::Backend& backend, Store& store, int threads, cudaStream_t stream)
      : backend_(backend),
        store_(store),
        threads_(threads),
        guard_(store.device),
        has_cores_(backend.tuning().tile_method(precision_letter<T>) == TileMethod::nystrom) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (cudaStreamIsCapturing(stream, &capture) == cudaSuccess &&
        capture != cudaStreamCaptureStatusNone)
      throw StatusError(Status::error(CHOL_STATUS_NOT_SUPPORTED,
                                      "calls on tile low rank matrices cannot be captured"));
    // Uses its own stream, of higher priority than the streams of the next column.
    const Strand& strand = store_.strand(Store::column);
    stream_ = strand.stream;
    check(cudaEventRecord(strand.begun, stream), "the caller's stream");
    check(cudaStreamWaitEvent(stream_, strand.begun, 0), "the caller's stream");
  }
  ~CudaTileOps() override {
    store_.wait();
    for (const Pool::Reason reason : {Pool::beside, Pool::forked, Pool::ahead})
      store_.pool.end_hold(reason);
  }

  int threads() const override { return threads_; }
  Memory* memory() const override { return &store_.pool; }
  bool reaches(const void* array) const override {
    return backend_.place_of(array) == backend::Place::device;
  }
  double default_workspace() const override { return 4e9; }
  bool has_cores() const override { return has_cores_; }
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
  void begin_cores(const std::vector<backend::CoreFactor<T>>& list, double tolerance,
                   bool wants_errors) override;
  void end_cores(std::vector<backend::CoreFactor<T>>& list) override;
  bool keeps_samples() const override { return true; }
  void orthonormalize(std::vector<backend::Orthonormalization<T>>& list) override;
  void truncate(std::vector<backend::Truncation<T>>& list) override;
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
  bool looks_ahead() const override { return true; }
  void fork_ahead() override;
  void begin_ahead(typename backend::TileOps<T>::Ahead kind) override;
  void end_ahead() override;
  void join_ahead() override;
  void make_definite(T* A, int64_t n, R least) override;
  int64_t inverse_elements(int64_t n) const override { return n * n; }
  void invert_blocks(const T* L, int64_t n, T* inverses, bool has_pairs) override;
  void solve(const std::vector<backend::TriangularSolve<T>>& list) override;
  bool has_sweeps(typename backend::TileOps<T>::Sweep kind, int64_t tile,
                  int64_t columns) const override;
  int64_t stage(const backend::LowerTiles<T>& L) const override;
  void solve_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, T* B,
                 int64_t ldb) override;
  void add_all(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, const T* X,
               int64_t ldx, T* Y, int64_t ldy) override;
  void begin_ldl(T* A, int64_t n, T* inverses) override;
  int end_ldl(int64_t n, int64_t* order, R* signs) override;
  void rearrange(const std::vector<backend::Rearrangement<T>>& list) override;
  void norms(std::vector<backend::Norm<T>>& list) override;
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
  /// Elements of device memory, copied to the host; valid until the next call.
  template <class E>
  const E* read(const E* from, size_t count) {
    E* const to = static_cast<E*>(store_.upload.results(sizeof(E) * count));
    check(cudaMemcpyAsync(to, from, sizeof(E) * count, cudaMemcpyDeviceToHost, stream_), "results");
    wait("results");
    return to;
  }
  template <class E>
  static size_t bytes_of(const std::vector<E>& list) {
    return sizeof(E) * list.size();
  }
  template <class E>
  const E* send(const std::vector<E>& list) {
    return store_.upload.send(list, stream_);
  }

  void invert_triangle(const T* L, int64_t n, T* inverses);
  void add_inverse_products(const backend::TriangularSolve<T>& item, const T* from, T* to,
                            int64_t ld_to, backend::ProductGroups<T>& groups) const;
  void queue_potrf(T* A, int64_t n, int* info);
  /// Memory of a tile whose L D L^H factorization is in progress.
  struct Indefinite {
    Buffer<T> scratch;
    Buffer<int> integers;
    Buffer<R> signs;
  };
  void queue_ldl(T* A, int64_t n, Indefinite& memory);
  /// sums: results of 2 kInnerBlocks blocks.
  void queue_norm_of_inverse(const T* L, const T* inverses, int64_t n, T* x, int steps,
                             double* sums);
  static double ratio_of_norms(const double* sums);
  /// sums: results of kInnerBlocks blocks.
  void queue_inner(const T* x, const T* y, int64_t n, double* sums);

  /// Whether a product is executed as a product of long vectors.
  static bool is_tall(const backend::Product<T>& p) {
    return p.adjoint_a && !p.adjoint_b && p.sign == 0 && p.k >= 64 && p.n > kMostVectors;
  }
  template <class Item, class Kernel, class... Arguments>
  void launch_cores(const CoreClass<Item>& cores, Kernel kernel, int threads, unsigned blocks,
                    Arguments... arguments);
  const CoreResult* find_bases(std::vector<BasisItem> items);
  void multiply_tall(const std::vector<TallItem>& items);
  template <class Shape>
  void launch_tall(const std::vector<TallItem>& items);
  template <int kDown, int kColumns>
  void launch_sweep(const SweepCall& call, int blocks);
  template <int kColumns>
  void run_sweep(SweepCall call, const backend::LowerTiles<T>& L, int blocks, T* Y, int64_t ldy);
  SweepCall prepare_sweep(const backend::LowerTiles<T>& L, bool adjoint, int* blocks);
  struct WidePlan;
  struct Wide;
  template <class E>
  const E* keep(const std::vector<E>& list, WidePlan& plan);
  template <class AddTasks>
  const WidePlan& wide_plan(const backend::LowerTiles<T>& L, bool adjoint, int kind,
                            const AddTasks& add_tasks);
  Wide prepare_wide(const WidePlan& plan, int64_t n, int all);
  void add_wide(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, const T* X,
                int64_t ldx, T* Y, int64_t ldy);
  template <class Launch>
  void solve_stages(const backend::LowerTiles<T>& L, bool adjoint, int64_t columns, T* B,
                    int64_t ldb);
  template <class Launch>
  void queue_stage(Wide& wide, size_t s, const T* inverse);
  template <class Shape>
  void launch_sums(const ColumnItem& item, const std::vector<TilePart>& parts);
  void launch_joint_sums(const ColumnItem& item);
  void multiply_middle(const ColumnItem& item, int64_t rows);
  void reserve_rows(int64_t count);

  backend::Backend& backend_;
  Store& store_;
  int threads_;
  cudaStream_t stream_;
  DeviceGuard guard_;
  bool has_cores_;
  /// The finished block columns of the factor.
  FinishedColumns finished_;
  Buffer<int> starts_;
  Buffer<const void*> of_rows_, of_samples_;
  /// Tables of block columns, and replaced tables of rows that kernels may still read.
  std::vector<Buffer<const void*>> vectors_, former_rows_;
  std::vector<Buffer<T>> samples_;
  Buffer<T> identity_;
  Indefinite indefinite_;
  Store::Which ahead_ = Store::samples_ahead;
  /// Cores whose factorizations are in progress.
  struct CoreRound {
    Buffer<CoreResult> results;
    size_t count;
    bool is_beside = false;
  };
  std::deque<CoreRound> core_rounds_;
};

}  // namespace chol::cuda::tlr
