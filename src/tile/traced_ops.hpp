// Operations of one of several devices that are recorded in the trace: each between two events of
// its queue, whose times are read after synchronization with the queues.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backend/plane_ops.hpp"
#include "base/task_trace.hpp"

namespace chol::tile {

/// Calls trace(kind, queue, rows, columns, depth, operation).
template <class T>
class TracedPlanes final : public backend::PlaneOps<T> {
  using View = backend::View<T>;
  using Queue = backend::Queue;
  using Operation = std::function<void()>;
  using Trace = std::function<void(Operator, Queue, int64_t, int64_t, int64_t, const Operation&)>;

 public:
  TracedPlanes(backend::PlaneOps<T>& planes, Trace trace)
      : planes_(planes), trace_(std::move(trace)) {}

  int64_t group_columns(int64_t n, int64_t nb) const override {
    return planes_.group_columns(n, nb);
  }
  void carve(Arena& arena, int64_t n, int64_t nb, int64_t group) override {
    n_ = n;
    group_ = group;
    planes_.carve(arena, n, nb, group);
  }
  void begin(Queue queue, const T* diagonal) override { planes_.begin(queue, diagonal); }
  void quantize(Queue queue, int slot, const View& A, int64_t row, int64_t column,
                int64_t columns) override {
    trace_(Operator::pack, queue, n_ - row, columns, 0,
           [&] { planes_.quantize(queue, slot, A, row, column, columns); });
  }
  bool is_exact() override { return planes_.is_exact(); }
  void update(Queue queue, int slot, const View& C, int64_t row, int64_t column, int64_t rows,
              int64_t columns) override {
    trace_(Operator::gemm, queue, rows, columns, group_,
           [&] { planes_.update(queue, slot, C, row, column, rows, columns); });
  }

 private:
  backend::PlaneOps<T>& planes_;
  const Trace trace_;
  int64_t n_ = 0, group_ = 0;
};

template <class T>
class TracedOps final : public backend::PanelOps<T> {
  using View = backend::View<T>;
  using Stored = backend::Stored<T>;
  using Queue = backend::Queue;
  using Event = backend::Event;
  static_assert(backend::kQueues == kTraceQueues);

 public:
  /// @param which index of the device in the handle.
  TracedOps(std::shared_ptr<backend::PanelOps<T>> ops, int which)
      : ops_(std::move(ops)), which_(which) {
    if (backend::PlaneOps<T>* const planes = ops_->planes())
      planes_ = std::make_unique<TracedPlanes<T>>(
          *planes,
          [this](Operator kind, Queue queue, int64_t rows, int64_t columns, int64_t depth,
                 const auto& operation) { trace(kind, queue, rows, columns, depth, operation); });
  }

  backend::PlaneOps<T>* planes() override { return planes_.get(); }

  void carve(Arena& arena, int64_t rows, int64_t columns) override {
    ops_->carve(arena, rows, columns);
  }
  void carve_inversion(Arena& arena, int64_t n) override { ops_->carve_inversion(arena, n); }
  void begin(const int* devices, int count, int threads) override {
    ops_->begin(devices, count, threads);
  }
  void finish() override {
    ops_->finish();
    tell();
  }
  void abandon() noexcept override {
    ops_->abandon();
    try {
      tell();
    } catch (...) {
      spans_.clear();
    }
  }
  int info() override { return ops_->info(); }
  size_t free_memory() override { return ops_->free_memory(); }
  void* pinned_memory(backend::Pinned use, size_t bytes) override {
    return ops_->pinned_memory(use, bytes);
  }
  bool reaches(int which) override { return ops_->reaches(which); }
  bool is_pageable(const T* memory) override { return ops_->is_pageable(memory); }
  Event record(Queue queue) override { return ops_->record(queue); }
  void wait(Queue queue, const Event& event) override { ops_->wait(queue, event); }
  void wait_on_host(const Event& event) override { ops_->wait_on_host(event); }
  Event mark(Queue queue) override { return ops_->mark(queue); }
  int64_t time_of(const Event& mark) override { return ops_->time_of(mark); }
  int64_t panel_columns() const override { return ops_->panel_columns(); }

  void copy(Queue queue, const View& to, const View& from, int64_t rows, int64_t columns) override {
    const Operator kind = queue == Queue::load    ? Operator::load
                          : queue == Queue::store ? Operator::store
                                                  : Operator::receive;
    trace(kind, queue, rows, columns, 0, [&] { ops_->copy(queue, to, from, rows, columns); });
  }
  void copy_on_host(const View& to, const View& from, int64_t rows, int64_t columns,
                    bool triangle) override {
    const TracedTask task(Operator::pack, rows, columns, 0);
    ops_->copy_on_host(to, from, rows, columns, triangle);
  }
  void factor(Queue queue, const View& A, int64_t rows, int64_t columns, int64_t before,
              int64_t behind) override {
    trace(Operator::potrf, queue, rows, columns, columns,
          [&] { ops_->factor(queue, A, rows, columns, before, behind); });
  }
  void update_diagonal(Queue queue, const View& C, const View& A, int64_t n,
                       int64_t depth) override {
    trace(Operator::syrk, queue, n, n, depth,
          [&] { ops_->update_diagonal(queue, C, A, n, depth); });
  }
  void update(Queue queue, const View& C, const View& A, const View& B, int64_t rows,
              int64_t columns, int64_t depth) override {
    trace(Operator::gemm, queue, rows, columns, depth,
          [&] { ops_->update(queue, C, A, B, rows, columns, depth); });
  }
  void solve(Queue queue, bool upper, const Stored& L, int64_t n, int64_t nrhs, T* B,
             int64_t ldb) override {
    trace(Operator::trsm, queue, n, nrhs, n,
          [&] { ops_->solve(queue, upper, L, n, nrhs, B, ldb); });
  }
  void solve_right(Queue queue, double alpha, bool upper, const Stored& L, int64_t n, int64_t rows,
                   T* B, int64_t ldb) override {
    trace(Operator::trsm, queue, rows, n, n,
          [&] { ops_->solve_right(queue, alpha, upper, L, n, rows, B, ldb); });
  }
  void multiply_triangle(Queue queue, bool from_left, bool upper, const Stored& L, int64_t n,
                         int64_t others, T* B, int64_t ldb) override {
    trace(Operator::trmm, queue, from_left ? n : others, from_left ? others : n, n,
          [&] { ops_->multiply_triangle(queue, from_left, upper, L, n, others, B, ldb); });
  }
  void invert_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) override {
    trace(Operator::trtri, queue, n, n, n, [&] { ops_->invert_triangle(queue, upper, L, ld, n); });
  }
  void square_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) override {
    trace(Operator::lauum, queue, n, n, n, [&] { ops_->square_triangle(queue, upper, L, ld, n); });
  }
  void add_square(Queue queue, bool upper, const Stored& A, int64_t n, int64_t depth, T* C,
                  int64_t ldc) override {
    trace(Operator::syrk, queue, n, n, depth,
          [&] { ops_->add_square(queue, upper, A, n, depth, C, ldc); });
  }
  void clear(Queue queue, T* C, int64_t ldc, int64_t rows, int64_t columns) override {
    trace(Operator::add, queue, rows, columns, 0,
          [&] { ops_->clear(queue, C, ldc, rows, columns); });
  }
  void add(Queue queue, T* C, int64_t ldc, const T* A, int64_t lda, int64_t rows,
           int64_t columns) override {
    trace(Operator::add, queue, rows, columns, 0,
          [&] { ops_->add(queue, C, ldc, A, lda, rows, columns); });
  }
  void multiply(Queue queue, double alpha, const Stored& A, const Stored& B, double beta, T* C,
                int64_t ldc, int64_t rows, int64_t columns, int64_t depth) override {
    trace(Operator::gemm, queue, rows, columns, depth,
          [&] { ops_->multiply(queue, alpha, A, B, beta, C, ldc, rows, columns, depth); });
  }

 private:
  struct Span {
    Event from, to;
    TaskEvent task;
  };

  /// An operation that throws is not recorded.
  template <class Operation>
  void trace(Operator kind, Queue queue, int64_t rows, int64_t columns, int64_t depth,
             Operation&& operation) {
    Span span{ops_->mark(queue), {}, {}};
    operation();
    span.to = ops_->mark(queue);
    span.task = {.start = 0,
                 .end = 0,
                 .row = static_cast<int32_t>(rows),
                 .column = static_cast<int32_t>(columns),
                 .step = static_cast<int32_t>(depth),
                 .core = static_cast<int16_t>(queue),
                 .kind = kind,
                 .device = static_cast<int16_t>(which_)};
    spans_.push_back(span);
  }
  /// Reports the events that the device has reached; after an error some may be missing.
  void tell() {
    for (Span& span : spans_) {
      span.task.start = ops_->time_of(span.from);
      span.task.end = ops_->time_of(span.to);
      if (span.task.start >= 0 && span.task.end >= 0) TaskTrace::add(span.task);
    }
    spans_.clear();
  }

  const std::shared_ptr<backend::PanelOps<T>> ops_;
  const int which_;
  std::unique_ptr<TracedPlanes<T>> planes_;
  std::vector<Span> spans_;
};

}  // namespace chol::tile
