// Operations on one of several devices, each queued: what the algorithms of src/tile are written
// over. Memory of the host and of all devices has one address space. What fails throws StatusError.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/arena.hpp"

namespace chol::backend {

/// Queues of a device. Each runs what it is given in order; between two of them only events order.
enum class Queue : uint8_t {
  panel,    ///< what all other devices wait for
  update,   ///< the bulk of the products
  receive,  ///< copies from other devices
  load,     ///< copies from the host
  store     ///< copies to the host
};
inline constexpr int kQueues = 5;

/// What pinned memory of the host serves for.
enum class Pinned : uint8_t { host_matrix, between_devices };
inline constexpr int kPinned = 2;

/// A point in a queue, until the next begin().
struct Event {
  void* point = nullptr;

  explicit operator bool() const { return point != nullptr; }
};

/// A block of a matrix as its lower triangle shows it: of an upper triangle rows and columns are
/// exchanged, so that element (i, j) lies at i * ld + j.
template <class T>
struct View {
  T* first = nullptr;
  int64_t ld = 1;
  bool swapped = false;

  View at(int64_t i, int64_t j) const {
    return {first + (swapped ? i * ld + j : j * ld + i), ld, swapped};
  }
  /// Elements that lie side by side in a block of so many rows and columns, and how often.
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

  /// Takes the memory that factor() needs for panels of so many rows and columns; a null arena
  /// counts.
  virtual void carve(Arena& arena, int64_t rows, int64_t columns) = 0;
  /// Begins a call behind what the caller's stream holds. info is 0.
  /// @param devices numbers of all devices that copies come from.
  /// @param threads of the host that copy_on_host() may use.
  virtual void begin(const int* devices, int count, int threads) = 0;
  /// Waits for all queues.
  virtual void finish() = 0;
  /// The same after an error, which it does not tell again.
  virtual void abandon() noexcept = 0;
  /// The first bad leading minor among the panels factored here, of those that are done, or 0.
  virtual int info() = 0;

  /// Free bytes of the device's memory.
  virtual size_t free_memory() = 0;
  /// At least so many bytes of host memory that copies need not stage; the same at each call.
  virtual void* pinned_memory(Pinned use, size_t bytes) = 0;
  /// Whether copies go straight between this device and another of those that begin() was given.
  virtual bool reaches(int which) = 0;
  /// Whether copies of that host memory would be staged by the driver.
  virtual bool is_pageable(const T* memory) = 0;

  virtual Event record(Queue queue) = 0;
  virtual void wait(Queue queue, const Event& event) = 0;
  /// Makes the calling thread wait.
  virtual void wait_on_host(const Event& event) = 0;

  /// A point of a queue whose time can be told. Asked for by a trace only: it has a cost.
  virtual Event mark(Queue queue) = 0;
  /// When the device came by, in nanoseconds of a steady clock; -1 when it has not.
  virtual int64_t time_of(const Event& mark) = 0;

  /// A block from anywhere to anywhere.
  virtual void copy(Queue queue, const View<T>& to, const View<T>& from, int64_t rows,
                    int64_t columns) = 0;

  /// A block of host memory to host memory, by the calling thread and others beside it.
  /// @param triangle without what lies above the diagonal that begins at its first element.
  virtual void copy_on_host(const View<T>& to, const View<T>& from, int64_t rows, int64_t columns,
                            bool triangle) = 0;

  /// Columns that factor() takes at most.
  virtual int64_t panel_columns() const = 0;
  /// Factors a panel that is updated already: its first `columns` rows are a diagonal block.
  /// @param before columns of the matrix in front of it, for info.
  /// @param behind columns behind it that may be read, whatever they hold.
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
