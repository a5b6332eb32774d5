#include <algorithm>
#include <climits>
#include <cstring>
#include <type_traits>

#include "base/precisions.h"
#include "base/status_error.hpp"
#include "base/threads/parallel_for.hpp"
#include "common/device_type.hpp"
#include "multi/panel_ops.hpp"
#include "multi/planes.hpp"
#include "multi/triangle.cuh"
#include "native/method.hpp"
#include "native/residues/residues.hpp"

namespace chol::cuda::multi {
namespace {

using backend::Event;
using backend::Queue;

/// Columns of a panel if the row does not set them.
constexpr int kPanelColumns = 1024;

template <class Public>
class Ops final : public backend::PanelOps<Public> {
  using T = Device<Public>;
  using View = backend::View<Public>;
  using Stored = backend::Stored<Public>;

 public:
  Ops(Queues& queues, const Choice& choice, const TuningStore& tuning, cudaStream_t stream)
      : queues_(queues),
        params_(native::Params::of(choice)),
        rows_(tuning.rows(Routine::potrf, Form::one, precision_letter<Public>)),
        callers_stream_(stream),
        planes_(make_planes<Public>(queues, tuning)) {
    const DeviceGuard guard(queues_.device());
    by_persistent_ = choice.is(kPersistentPotrf) && persistent::can_run<T>();
  }

  backend::PlaneOps<Public>* planes() override { return planes_.get(); }
  void carve(Arena& arena, int64_t rows, int64_t columns) override {
    const DeviceGuard guard(queues_.device());
    // Of a panel, and of a diagonal block alone.
    const int64_t most = std::max<int64_t>(columns, 1);
    for (const bool upper : {false, true}) blas_updates_[upper] = updates_by_blas(upper, rows);
    work_ = block_method().carve(arena, std::max(rows, most), panel_params(most));
    info_ = arena.take<int>(2);
  }

  void begin(const int* devices, int count, int threads) override {
    const DeviceGuard guard(queues_.device());
    threads_ = threads;
    devices_.assign(devices, devices + count);
    queues_.prepare();
    queues_.begin();
    for (int d = 0; d < count; ++d) queues_.reach(devices[d]);
    const cudaEvent_t begun = queues_.next_event();
    check(cudaEventRecord(begun, callers_stream_), "event");
    for (int queue = 0; queue < backend::kQueues; ++queue)
      check(cudaStreamWaitEvent(queues_.stream(static_cast<Queue>(queue)), begun, 0), "event");
    if (info_)
      check(cudaMemsetAsync(info_, 0, 2 * sizeof(int), queues_.stream(Queue::panel)), "info");
  }
  void finish() override {
    const DeviceGuard guard(queues_.device());
    check(queues_.wait(), "several devices");
  }
  void abandon() noexcept override {
    const DeviceGuard guard(queues_.device());
    if (queues_.wait() != cudaSuccess) cudaGetLastError();
  }
  int info() override {
    const DeviceGuard guard(queues_.device());
    int info = 0;
    check(cudaMemcpy(&info, info_, sizeof info, cudaMemcpyDeviceToHost), "info");
    return info;
  }

  size_t free_memory() override {
    const DeviceGuard guard(queues_.device());
    size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    return free;
  }
  void* pinned_memory(backend::Pinned use, size_t bytes) override {
    const DeviceGuard guard(queues_.device());
    return queues_.pinned(use, bytes);
  }
  bool reaches(int which) override { return queues_.reaches(devices_[static_cast<size_t>(which)]); }
  bool is_pageable(const Public* memory) override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
      return attributes.type == cudaMemoryTypeUnregistered;
    cudaGetLastError();
    return true;
  }

  Event record(Queue queue) override {
    const DeviceGuard guard(queues_.device());
    const cudaEvent_t event = queues_.next_event();
    check(cudaEventRecord(event, queues_.stream(queue)), "event");
    return {event};
  }
  void wait(Queue queue, const Event& event) override {
    const DeviceGuard guard(queues_.device());
    check(cudaStreamWaitEvent(queues_.stream(queue), static_cast<cudaEvent_t>(event.point), 0),
          "event");
  }
  void wait_on_host(const Event& event) override {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(event.point)), "event");
  }

  Event mark(Queue queue) override {
    const DeviceGuard guard(queues_.device());
    return {queues_.next_mark(queue)};
  }
  int64_t time_of(const Event& mark) override {
    const DeviceGuard guard(queues_.device());
    return queues_.time_of(static_cast<cudaEvent_t>(mark.point));
  }

  void copy(Queue queue, const View& to, const View& from, int64_t rows, int64_t columns) override {
    if (rows == 0 || columns == 0) return;
    const DeviceGuard guard(queues_.device());
    constexpr size_t kBytes = sizeof(T);
    check(cudaMemcpy2DAsync(to.first, kBytes * to.ld, from.first, kBytes * from.ld,
                            kBytes * to.length(rows, columns), to.lines(rows, columns),
                            cudaMemcpyDefault, queues_.stream(queue)),
          "copy of a panel");
  }

  void copy_on_host(const View& to, const View& from, int64_t rows, int64_t columns,
                    bool triangle) override {
    const int64_t lines = to.lines(rows, columns), length = to.length(rows, columns);
    const auto copy_line = [&](int64_t line, bool, int) {
      const int64_t first = triangle && !to.swapped ? line : 0;
      const int64_t end = triangle && to.swapped ? std::min(line + 1, length) : length;
      if (first < end)
        std::memcpy(to.first + line * to.ld + first, from.first + line * from.ld + first,
                    sizeof(T) * static_cast<size_t>(end - first));
    };
    constexpr double kBytesPerNs = 8;
    constexpr int64_t kLinesAtATime = 4;
    parallel_for({lines, kLinesAtATime, std::min(threads_, LoopPartition::kMostShares),
                  sizeof(T) * static_cast<double>(lines * length) / kBytesPerNs},
                 threads_, copy_line);
  }

  int64_t panel_columns() const override {
    return by_persistent_ && params_.panel > 0 ? params_.panel : kPanelColumns;
  }
  void factor(Queue queue, const View& A, int64_t rows, int64_t columns, int64_t before,
              int64_t behind) override {
    const DeviceGuard guard(queues_.device());
    const cudaStream_t stream = queues_.stream(queue);
    // The kernel reads one tile after the panel.
    const bool can_read = behind >= kTile || rows == columns;
    if (by_persistent_ && can_read && columns % kTile == 0 &&
        before + rows < persistent::kLargestDimension<T> &&
        A.ld < persistent::kLargestDimension<T>) {
      // For a matrix in which this panel follows the columns before it.
      BatchProblem<T> problem = problem_of(A, before + rows, info_);
      problem.A.first -= before * (A.ld + 1);
      return require(persistent::factor_columns(problem, before, columns, params_.groups,
                                                work_.persistent, stream));
    }
    Blas& blas = use(queue);
    const BatchProblem<T> block = problem_of(A, columns, info_ + 1);
    require(block_method().run(block, panel_params(columns), {work_, blas, stream}));
    require(residues::add_info_of_rest(info_, info_ + 1, before, stream));
    if (rows == columns) return;
    // X L^H = B, in the storage of a lower triangle or of an upper one, which is the transpose.
    const View below = A.at(columns, 0);
    if (A.swapped)
      require(blas.solve(CUBLAS_FILL_MODE_UPPER, true, columns, rows - columns, elements(A.first),
                         A.ld, elements(below.first), A.ld));
    else
      require(blas.solve_right(CUBLAS_FILL_MODE_LOWER, true, columns, rows - columns,
                               elements(A.first), A.ld, elements(below.first), A.ld));
  }
  void update_diagonal(Queue queue, const View& C, const View& A, int64_t n,
                       int64_t depth) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).subtract_square(C.swapped, n, depth, elements(A.first), A.ld,
                                       elements(C.first), C.ld));
  }
  void update(Queue queue, const View& C, const View& A, const View& B, int64_t rows,
              int64_t columns, int64_t depth) override {
    const DeviceGuard guard(queues_.device());
    if (is_for_kernel(C, A, B, rows, columns, depth))
      return require(persistent::update_rectangle<T>(
          {elements(C.first), C.ld, elements(A.first), elements(B.first), A.ld, B.ld,
           static_cast<int>(rows), static_cast<int>(columns), static_cast<int>(depth)},
          C.swapped, queues_.stream(queue)));
    const Operand<T> a{elements(A.first), A.ld, false};
    const Operand<T> b{elements(B.first), B.ld, true};
    const Result<T> c{elements(C.first), C.ld};
    // Swapped storage holds transposes: C^T -= conj(B) A^T, and conj(B) is the adjoint of B^T.
    if (C.swapped)
      require(use(queue).multiply({columns, rows, depth}, -1, b, a, 1, c));
    else
      require(use(queue).multiply({rows, columns, depth}, -1, a, b, 1, c));
  }

  void solve(Queue queue, bool upper, const Stored& L, int64_t n, int64_t nrhs, Public* B,
             int64_t ldb) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).solve(fill(upper), L.adjoint, n, nrhs, elements(L.first), L.ld, elements(B),
                             ldb));
  }
  void solve_right(Queue queue, double alpha, bool upper, const Stored& L, int64_t n, int64_t rows,
                   Public* B, int64_t ldb) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).solve_right(fill(upper), L.adjoint, n, rows, elements(L.first), L.ld,
                                   elements(B), ldb, static_cast<Real<T>>(alpha)));
  }
  void multiply_triangle(Queue queue, bool from_left, bool upper, const Stored& L, int64_t n,
                         int64_t others, Public* B, int64_t ldb) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).multiply_triangle(from_left, fill(upper), L.adjoint, n, others,
                                         elements(L.first), L.ld, elements(B), ldb));
  }
  void carve_inversion(Arena& arena, int64_t n) override {
    square_ = arena.take<T>(static_cast<size_t>(n * n));
  }
  void invert_triangle(Queue queue, bool upper, Public* L, int64_t ld, int64_t n) override {
    const DeviceGuard guard(queues_.device());
    const cudaStream_t stream = queues_.stream(queue);
    require(write_identity(square_, n, stream));
    require(use(queue).solve(fill(upper), false, n, n, elements(L), ld, square_, n));
    require(copy_triangle(upper, square_, n, elements(L), ld, n, false, stream));
  }
  void square_triangle(Queue queue, bool upper, Public* L, int64_t ld, int64_t n) override {
    const DeviceGuard guard(queues_.device());
    require(copy_triangle(upper, elements(L), ld, square_, n, n, true, queues_.stream(queue)));
    require(use(queue).square(fill(upper), n, n, {square_, n, !upper}, 0, elements(L), ld));
  }
  void add_square(Queue queue, bool upper, const Stored& A, int64_t n, int64_t depth, Public* C,
                  int64_t ldc) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).square(fill(upper), n, depth, {elements(A.first), A.ld, A.adjoint}, 1,
                              elements(C), ldc));
  }
  void clear(Queue queue, Public* C, int64_t ldc, int64_t rows, int64_t columns) override {
    if (rows == 0 || columns == 0) return;
    const DeviceGuard guard(queues_.device());
    check(
        cudaMemset2DAsync(C, sizeof(T) * ldc, 0, sizeof(T) * rows, columns, queues_.stream(queue)),
        "zeros");
  }
  void add(Queue queue, Public* C, int64_t ldc, const Public* A, int64_t lda, int64_t rows,
           int64_t columns) override {
    if (rows == 0 || columns == 0) return;
    const DeviceGuard guard(queues_.device());
    require(use(queue).add(rows, columns, reinterpret_cast<const T*>(A), lda, elements(C), ldc));
  }
  void multiply(Queue queue, double alpha, const Stored& A, const Stored& B, double beta, Public* C,
                int64_t ldc, int64_t rows, int64_t columns, int64_t depth) override {
    const DeviceGuard guard(queues_.device());
    require(use(queue).multiply({rows, columns, depth}, static_cast<Real<T>>(alpha),
                                {elements(A.first), A.ld, A.adjoint},
                                {elements(B.first), B.ld, B.adjoint}, static_cast<Real<T>>(beta),
                                Result<T>{elements(C), ldc}));
  }

 private:
  /// A status that names the device.
  void require(const Status& status) const {
    if (!status.ok())
      throw StatusError(
          Status::error(status.code(), "device %d: %s", queues_.device(), status.message()));
  }
  void check(cudaError_t error, const char* doing) const { require(status_of(error, doing)); }

  static constexpr int64_t kTile = persistent::Config<T>::kOrder;

  static T* elements(Public* x) { return reinterpret_cast<T*>(x); }
  static cublasFillMode_t fill(bool upper) {
    return upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
  }
  /// Falls back to the other method if the device lacks the resources.
  static const native::FactorMethod<T>& block_method() {
    return native::method_of<T>(kPersistentPotrf);
  }
  /// Whether the kernel of update/ is used, as for one matrix of that order on one device, except
  /// that cuBLAS is 6 % faster for upper triangles of single precision.
  bool is_for_kernel(const View& C, const View& A, const View& B, int64_t rows, int64_t columns,
                     int64_t depth) const {
    constexpr int64_t kMultiple = 16;
    const bool is_slower = C.swapped && std::is_same_v<T, float>;
    return by_persistent_ && !is_slower && !blas_updates_[C.swapped] && rows > 0 && columns > 0 &&
           columns % kMultiple == 0 && depth % kMultiple == 0 && rows <= INT_MAX / 2 &&
           std::max({C.ld, A.ld, B.ld}) < persistent::kLargestDimension<T>;
  }
  /// As in the rows of one matrix of that order on one device.
  bool updates_by_blas(bool upper, int64_t n) const {
    Case asked{Routine::potrf, Form::one, precision_letter<Public>, upper};
    asked.n = n;
    const Choice* const own =
        rows_.choose(asked, [](const Choice& its) { return its.is(kPersistentPotrf); });
    return own && native::Params::of(*own).blas_updates;
  }
  native::Params panel_params(int64_t columns) const {
    native::Params params;
    params.panel = static_cast<int>((columns + kTile - 1) / kTile * kTile);
    params.groups = std::max(params_.groups, 1);
    return params;
  }
  static BatchProblem<T> problem_of(const View& A, int64_t n, int* info) {
    BatchProblem<T> problem;
    problem.A = {elements(A.first), 0, nullptr, A.ld, nullptr};
    problem.count = 1;
    problem.n = n;
    problem.info = info;
    problem.swapped = A.swapped;
    return problem;
  }
  Blas& use(Queue queue) {
    Blas& blas = queues_.blas(queue);
    require(blas.use(queues_.stream(queue)));
    return blas;
  }

  Queues& queues_;
  const native::Params params_;
  const RowTable& rows_;
  const cudaStream_t callers_stream_;
  const std::unique_ptr<backend::PlaneOps<Public>> planes_;
  bool by_persistent_ = false;
  int threads_ = 1;            ///< of the host
  std::vector<int> devices_;   ///< of the call
  bool blas_updates_[2] = {};  ///< of the lower and the upper triangle
  native::FactorWorkspace<T> work_;
  T* square_ = nullptr;  ///< copy of a triangle that is overwritten
  int* info_ = nullptr;  ///< of all panels, and of a block alone
};

}  // namespace

template <class T>
std::shared_ptr<backend::PanelOps<T>> make_panel_ops(Queues& queues, const Choice& choice,
                                                     const TuningStore& tuning,
                                                     cudaStream_t stream) {
  return std::make_shared<Ops<T>>(queues, choice, tuning, stream);
}

#define CHOL_INSTANTIATE(prefix, T, R)                              \
  template std::shared_ptr<backend::PanelOps<T>> make_panel_ops<T>( \
      Queues&, const Choice&, const TuningStore&, cudaStream_t);
CHOL_FOR_EACH_PRECISION(CHOL_INSTANTIATE)
#undef CHOL_INSTANTIATE

}  // namespace chol::cuda::multi
