// Asynchronous operations on one of several devices, over which the algorithms of src/tile are
// written. Host and device memory share one address space. Failures throw StatusError.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"

namespace chol::backend {

/// Queues of a device. Operations in a queue run in order; queues are synchronized by events only.
enum class Queue : uint8_t {
  panel,    ///< what all other devices wait for
  update,   ///< the bulk of the products
  receive,  ///< copies from other devices
  load,     ///< copies from the host
  store     ///< copies to the host
};
inline constexpr int kQueues = 5;

/// Uses of pinned host memory.
enum class Pinned : uint8_t { host_matrix, between_devices };
inline constexpr int kPinned = 2;

/// A point in a queue, until the next begin().
struct Event {
  void* point = nullptr;

  explicit operator bool() const { return point != nullptr; }
};

/// A block of a matrix in terms of its lower triangle: for an upper triangle rows and columns are
/// exchanged, so that element (i, j) is at i * ld + j.
template <class T>
struct View {
  T* first = nullptr;
  int64_t ld = 1;
  bool swapped = false;

  View at(int64_t i, int64_t j) const {
    return {first + (swapped ? i * ld + j : j * ld + i), ld, swapped};
  }
  /// Length and number of the contiguous runs of elements in a block.
  int64_t length(int64_t rows, int64_t columns) const { return swapped ? columns : rows; }
  int64_t lines(int64_t rows, int64_t columns) const { return swapped ? rows : columns; }
};

/// An operand of a product as it is stored, by columns.
template <class T>
struct Stored {
  T* first = nullptr;
  int64_t ld = 1;
  bool adjoint = false;  ///< whether the conjugate transpose is meant
};

template <class T>
class PlaneOps;  // backend/plane_ops.hpp

template <class T>
class PanelOps {
 public:
  virtual ~PanelOps() = default;

  /// Products by residues, or nullptr where the device has none.
  virtual PlaneOps<T>* planes() { return nullptr; }

  /// Takes the memory that factor() needs for panels of this size; a null arena counts.
  virtual void carve(Arena& arena, int64_t rows, int64_t columns) = 0;
  /// Begins a call, ordered after the work in the caller's stream. info is 0.
  /// @param devices numbers of all devices that copies come from.
  /// @param threads of the host that copy_on_host() may use.
  virtual void begin(const int* devices, int count, int threads) = 0;
  /// Waits for all queues.
  virtual void finish() = 0;
  /// The same after an error, which is not reported again.
  virtual void abandon() noexcept = 0;
  /// The first bad leading minor among the panels factored here, of those that are done, or 0.
  virtual int info() = 0;

  /// Free bytes of the device's memory.
  virtual size_t free_memory() = 0;
  /// Pinned host memory of at least so many bytes; each call returns the same memory.
  virtual void* pinned_memory(Pinned use, size_t bytes) = 0;
  /// Whether this device and another of those passed to begin() copy to each other directly (peer
  /// access).
  virtual bool reaches(int which) = 0;
  /// Whether copies of that host memory would be staged by the driver.
  virtual bool is_pageable(const T* memory) = 0;

  virtual Event record(Queue queue) = 0;
  virtual void wait(Queue queue, const Event& event) = 0;
  /// Makes the calling thread wait.
  virtual void wait_on_host(const Event& event) = 0;

  /// A timed event in a queue. Used for traces only, since it has a cost.
  virtual Event mark(Queue queue) = 0;
  /// Time at which the device reached the event, in nanoseconds of a steady clock; -1 if it has
  /// not.
  virtual int64_t time_of(const Event& mark) = 0;

  /// Copies a block between any two memories.
  virtual void copy(Queue queue, const View<T>& to, const View<T>& from, int64_t rows,
                    int64_t columns) = 0;

  /// Copies a block from host memory to host memory, by the calling thread and others.
  /// @param triangle skips the elements above the diagonal that starts at the first element.
  virtual void copy_on_host(const View<T>& to, const View<T>& from, int64_t rows, int64_t columns,
                            bool triangle) = 0;

  /// Largest number of columns for factor().
  virtual int64_t panel_columns() const = 0;
  /// Factors a panel that has taken all its updates; its first `columns` rows are a diagonal block.
  /// @param before columns of the matrix in front of it, for info.
  /// @param behind columns after it that may be read, whatever their content.
  virtual void factor(Queue queue, const View<T>& A, int64_t rows, int64_t columns, int64_t before,
                      int64_t behind) = 0;
  /// C -= A A^H on the lower triangle of C, of order n.
  virtual void update_diagonal(Queue queue, const View<T>& C, const View<T>& A, int64_t n,
                               int64_t depth) = 0;
  /// C -= A B^H, C rows by columns.
  virtual void update(Queue queue, const View<T>& C, const View<T>& A, const View<T>& B,
                      int64_t rows, int64_t columns, int64_t depth) = 0;

  /// B := L^-1 B, or L^-H B, with a triangle of the factor as it is stored.
  /// @param upper which triangle that is.
  virtual void solve(Queue queue, bool upper, const Stored<T>& L, int64_t n, int64_t nrhs, T* B,
                     int64_t ldb) = 0;
  /// B := alpha B L^-1, or alpha B L^-H, of `rows` rows.
  virtual void solve_right(Queue queue, double alpha, bool upper, const Stored<T>& L, int64_t n,
                           int64_t rows, T* B, int64_t ldb) = 0;
  /// B := L B, B of `others` columns, or B := B L, of `others` rows; L or L^H.
  virtual void multiply_triangle(Queue queue, bool from_left, bool upper, const Stored<T>& L,
                                 int64_t n, int64_t others, T* B, int64_t ldb) = 0;
  /// Takes the memory of the next two for triangles of order n; a null arena counts.
  virtual void carve_inversion(Arena& arena, int64_t n) = 0;
  /// L := L^-1.
  virtual void invert_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) = 0;
  /// The triangle of L^H L over a lower triangle L, of L L^H over an upper one.
  virtual void square_triangle(Queue queue, bool upper, T* L, int64_t ld, int64_t n) = 0;
  /// C := C + A A^H on a triangle of C, of order n; A as stored or its adjoint.
  virtual void add_square(Queue queue, bool upper, const Stored<T>& A, int64_t n, int64_t depth,
                          T* C, int64_t ldc) = 0;
  /// C := 0 and C := C + A, rows by columns as stored.
  virtual void clear(Queue queue, T* C, int64_t ldc, int64_t rows, int64_t columns) = 0;
  virtual void add(Queue queue, T* C, int64_t ldc, const T* A, int64_t lda, int64_t rows,
                   int64_t columns) = 0;
  /// C := alpha A B + beta C, C rows by columns.
  virtual void multiply(Queue queue, double alpha, const Stored<T>& A, const Stored<T>& B,
                        double beta, T* C, int64_t ldc, int64_t rows, int64_t columns,
                        int64_t depth) = 0;
};

}  // namespace chol::backend
