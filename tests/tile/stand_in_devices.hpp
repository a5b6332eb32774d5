// Simulated devices: each operation runs immediately on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/scalar.hpp"
#include "support/dense.hpp"
#include "tile/stand_in_planes.hpp"

namespace chol::test {

template <class T>
class StandInDevice : public backend::PanelOps<T> {
 public:
  using View = backend::View<T>;
  using Stored = backend::Stored<T>;
  using Queue = backend::Queue;

  /// @param panel_columns as PanelOps.
  StandInDevice(Machine& machine, int number, int64_t panel_columns)
      : machine_(machine), number_(number), panel_columns_(panel_columns) {}

  void carve(Arena&, int64_t, int64_t) override {}
  void begin(const int*, int, int) override { info_ = 0; }
  void finish() override { machine_.join(); }
  void abandon() noexcept override {}
  int info() override { return info_; }

  size_t free_memory() override { return free_memory_; }
  void* pinned_memory(backend::Pinned use, size_t bytes) override {
    Memory& memory = pinned_[static_cast<int>(use)];
    if (memory.bytes < bytes) memory = {std::make_unique_for_overwrite<char[]>(bytes), bytes};
    return memory.start.get();
  }
  backend::PlaneOps<T>* planes() override { return planes_.get(); }
  /// @param panels of a group. @param exact number of groups before one is reported to exceed the
  /// bound.
  void use_planes(int64_t panels, int exact) {
    planes_ = std::make_unique<StandInPlanes<T>>(machine_, number_, panels, exact);
  }
  bool reaches(int which) override { return machine_.has_peer_access || which == number_; }
  bool is_pageable(const T*) override { return is_pageable_; }
  void set_free_memory(size_t bytes) { free_memory_ = bytes; }
  void set_pageable(bool pageable) { is_pageable_ = pageable; }

  backend::Event record(Queue queue) override { return machine_.record(index(queue)); }
  void wait(Queue queue, const backend::Event& event) override {
    machine_.wait(index(queue), event);
  }
  void wait_on_host(const backend::Event& event) override { machine_.wait(machine_.host, event); }
  backend::Event mark(Queue queue) override {
    int64_t& time = machine_.times[size_t(index(queue))];
    time = std::max(time, machine_.times[size_t(machine_.host)]);
    return machine_.record(index(queue));
  }
  int64_t time_of(const backend::Event& mark) override {
    return static_cast<const Machine::Point*>(mark.point)->time;
  }

  void copy(Queue queue, const View& to, const View& from, int64_t rows, int64_t columns) override {
    operation(queue, double(rows * columns) / (queue == Queue::receive ? kPeerRate : kHostRate));
    if (!machine_.has_peer_access)
      machine_.refused += !machine_.is_within_reach(to.first, number_) ||
                          !machine_.is_within_reach(from.first, number_);
    copy_elements(to, from, rows, columns, false);
  }
  void copy_on_host(const View& to, const View& from, int64_t rows, int64_t columns,
                    bool triangle) override {
    queue_ = machine_.host;
    machine_.begin_operation(queue_, double(rows * columns) / kHostRate);
    copy_elements(to, from, rows, columns, triangle);
  }
  int64_t panel_columns() const override { return panel_columns_; }
  void factor(Queue queue, const View& A, int64_t rows, int64_t columns, int64_t before,
              int64_t) override {
    operation(queue, double(rows * columns * columns) / kRate);
    if (!machine_.computes) return;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = j; i < rows; ++i) {
        T sum = get(A, i, j);
        for (int64_t k = 0; k < j; ++k) sum -= get(A, i, k) * conjugate(get(A, j, k));
        if (i == j) {
          const RealOf<T> pivot = std::real(sum);
          if (!(pivot > 0) && info_ == 0) info_ = static_cast<int>(before + j + 1);
          set(A, i, j, T(std::sqrt(pivot)));
        } else {
          set(A, i, j, sum / get(A, j, j));
        }
      }
  }
  void update_diagonal(Queue queue, const View& C, const View& A, int64_t n,
                       int64_t depth) override {
    operation(queue, double(n * n * depth) / (2 * kRate));
    if (!machine_.computes) return;
    if (!machine_.watches) return subtract_product(C, A, A, n, n, depth, true);
    for_each(n, n, [&](int64_t i, int64_t j) {
      if (i >= j) subtract(C, A, A, i, j, depth);
    });
  }
  void update(Queue queue, const View& C, const View& A, const View& B, int64_t rows,
              int64_t columns, int64_t depth) override {
    operation(queue, double(rows * columns * depth) / kRate);
    if (!machine_.computes) return;
    if (!machine_.watches) return subtract_product(C, A, B, rows, columns, depth, false);
    for_each(rows, columns, [&](int64_t i, int64_t j) { subtract(C, A, B, i, j, depth); });
  }
  void solve(Queue queue, bool upper, const Stored& L, int64_t n, int64_t nrhs, T* B,
             int64_t ldb) override {
    operation(queue);
    const bool forward = upper == L.adjoint;
    for (int64_t c = 0; c < nrhs; ++c)
      for (int64_t at = 0; at < n; ++at) {
        const int64_t i = forward ? at : n - 1 - at;
        T sum = load(B + c * ldb + i);
        for (int64_t k = forward ? 0 : i + 1; k < (forward ? i : n); ++k)
          sum -= element(L, i, k) * load(B + c * ldb + k);
        store(B + c * ldb + i, sum / element(L, i, i));
      }
  }
  void solve_right(Queue queue, double alpha, bool upper, const Stored& L, int64_t n, int64_t rows,
                   T* B, int64_t ldb) override {
    operation(queue);
    const bool is_lower = upper == L.adjoint;  // of op(L), whose last column then comes first
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t at = 0; at < n; ++at) {
        const int64_t j = is_lower ? n - 1 - at : at;
        T sum = load(B + j * ldb + r) * RealOf<T>(alpha);
        for (int64_t k = is_lower ? j + 1 : 0; k < (is_lower ? n : j); ++k)
          sum -= load(B + k * ldb + r) * element(L, k, j);
        store(B + j * ldb + r, sum / element(L, j, j));
      }
  }
  void multiply_triangle(Queue queue, bool from_left, bool upper, const Stored& L, int64_t n,
                         int64_t others, T* B, int64_t ldb) override {
    operation(queue);
    const auto at = [&](int64_t i, int64_t j) {
      return from_left ? B + j * ldb + i : B + i * ldb + j;
    };
    for (int64_t c = 0; c < others; ++c) {
      std::vector<T> x(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) x[size_t(i)] = load(at(i, c));
      for (int64_t i = 0; i < n; ++i) {
        T sum{};
        for (int64_t k = 0; k < n; ++k) {
          const int64_t row = from_left ? i : k, column = from_left ? k : i;
          if (row == column || (row < column) == (upper != L.adjoint))
            sum += element(L, row, column) * x[size_t(k)];
        }
        store(at(i, c), sum);
      }
    }
  }
  void carve_inversion(Arena&, int64_t) override {}
  void invert_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) override {
    std::vector<T> X(static_cast<size_t>(n * n));
    for (int64_t i = 0; i < n; ++i) X[size_t(i * n + i)] = T(1);
    solve(queue, upper, {L, ld, false}, n, n, X.data(), n);
    for_each(n, n, [&](int64_t i, int64_t j) {
      if (upper ? i <= j : i >= j) store(L + j * ld + i, X[size_t(j * n + i)]);
      machine_.elements.erase(&X[size_t(j * n + i)]);  // the memory may be allocated again
    });
  }
  void square_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) override {
    operation(queue);
    std::vector<T> X(static_cast<size_t>(n * n));
    for_each(n, n, [&](int64_t i, int64_t j) {
      if (upper ? i <= j : i >= j) X[size_t(j * n + i)] = load(L + j * ld + i);
    });
    for_each(n, n, [&](int64_t i, int64_t j) {
      if (upper ? i > j : i < j) return;
      T sum{};
      for (int64_t k = 0; k < n; ++k)
        sum += upper ? X[size_t(k * n + i)] * conjugate(X[size_t(k * n + j)])
                     : conjugate(X[size_t(i * n + k)]) * X[size_t(j * n + k)];
      store(L + j * ld + i, sum);
    });
  }
  void add_square(Queue queue, bool upper, const Stored& A, int64_t n, int64_t depth, T* C,
                  int64_t ldc) override {
    operation(queue);
    for_each(n, n, [&](int64_t i, int64_t j) {
      if (upper ? i > j : i < j) return;
      T sum = load(C + j * ldc + i);
      for (int64_t k = 0; k < depth; ++k) sum += element(A, i, k) * conjugate(element(A, j, k));
      store(C + j * ldc + i, sum);
    });
  }
  void clear(Queue queue, T* C, int64_t ldc, int64_t rows, int64_t columns) override {
    operation(queue);
    for_each(rows, columns, [&](int64_t i, int64_t j) { store(C + j * ldc + i, T{}); });
  }
  void add(Queue queue, T* C, int64_t ldc, const T* A, int64_t lda, int64_t rows,
           int64_t columns) override {
    operation(queue);
    for_each(rows, columns, [&](int64_t i, int64_t j) {
      store(C + j * ldc + i, load(C + j * ldc + i) + load(A + j * lda + i));
    });
  }
  void multiply(Queue queue, double alpha, const Stored& A, const Stored& B, double beta, T* C,
                int64_t ldc, int64_t rows, int64_t columns, int64_t depth) override {
    operation(queue);
    for_each(rows, columns, [&](int64_t i, int64_t j) {
      T sum{};
      for (int64_t k = 0; k < depth; ++k) sum += element(A, i, k) * element(B, k, j);
      T* const to = C + j * ldc + i;
      sum *= RealOf<T>(alpha);
      store(to, beta == 0 ? sum : sum + RealOf<T>(beta) * load(to));
    });
  }

 protected:
  int index(Queue queue) const { return number_ * backend::kQueues + static_cast<int>(queue); }
  /// Elements a nanosecond over NVLink and between host and device, and products: about the rates
  /// of double precision on an H200.
  static constexpr double kPeerRate = 25, kHostRate = 3, kRate = 25000;

  void operation(Queue queue, double cost = 0) {
    queue_ = index(queue);
    machine_.begin_operation(queue_, cost);
  }
  void copy_elements(const View& to, const View& from, int64_t rows, int64_t columns,
                     bool triangle) {
    machine_.copied += rows * columns;
    if (!machine_.computes) return;
    for_each(rows, columns, [&](int64_t i, int64_t j) {
      if (!triangle || i >= j) set(to, i, j, get(from, i, j));
    });
  }
  template <class Body>
  static void for_each(int64_t rows, int64_t columns, Body&& body) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) body(i, j);
  }
  T load(const T* x) {
    machine_.read(queue_, x);
    return *x;
  }
  void store(T* x, T value) {
    machine_.write(queue_, x);
    *x = value;
  }
  T get(const View& A, int64_t i, int64_t j) { return load(A.at(i, j).first); }
  void set(const View& A, int64_t i, int64_t j, T value) { store(A.at(i, j).first, value); }
  void subtract(const View& C, const View& A, const View& B, int64_t i, int64_t j, int64_t depth) {
    T sum = get(C, i, j);
    for (int64_t k = 0; k < depth; ++k) sum -= get(A, i, k) * conjugate(get(B, j, k));
    set(C, i, j, sum);
  }
  /// The same for all elements, or those of a lower triangle, along the contiguous direction.
  static void subtract_product(const View& C, const View& A, const View& B, int64_t rows,
                               int64_t columns, int64_t depth, bool lower) {
    for (int64_t j = 0; j < columns; ++j)
      if (C.swapped) {
        for (int64_t i = lower ? j : 0; i < rows; ++i) {
          const T *const a = A.at(i, 0).first, *const b = B.at(j, 0).first;
          T sum{};
          for (int64_t k = 0; k < depth; ++k) sum += a[k] * conjugate(b[k]);
          *C.at(i, j).first -= sum;
        }
      } else {
        T* const c = C.at(0, j).first;
        for (int64_t k = 0; k < depth; ++k) {
          const T b = conjugate(*B.at(j, k).first), *const a = A.at(0, k).first;
          for (int64_t i = lower ? j : 0; i < rows; ++i) c[i] -= a[i] * b;
        }
      }
  }
  T element(const Stored& A, int64_t i, int64_t j) {
    return A.adjoint ? conjugate(load(A.first + i * A.ld + j)) : load(A.first + j * A.ld + i);
  }

  Machine& machine_;
  int number_, queue_ = 0;
  int64_t panel_columns_;
  int info_ = 0;
  size_t free_memory_ = size_t{1} << 30;
  bool is_pageable_ = false;
  struct Memory {
    std::unique_ptr<char[]> start;
    size_t bytes = 0;
  };
  Memory pinned_[backend::kPinned];
  std::unique_ptr<StandInPlanes<T>> planes_;
};

}  // namespace chol::test
