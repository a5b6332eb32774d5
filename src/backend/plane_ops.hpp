// Products of a factor's rows by residues on one of several devices (CHOL_MATH_TENSOR): the rows
// times powers of two, rounded to integers, whose residues modulo a few coprime numbers are kept as
// planes of bytes.
#pragma once

#include "backend/panel_ops.hpp"

namespace chol::backend {

/// Planes of groups of panels, in slots that groups use cyclically.
template <class T>
class PlaneOps {
 public:
  static constexpr int kSlots = 2;

  virtual ~PlaneOps() = default;

  /// Columns of a group in a matrix of order n with panels of nb columns: a multiple of nb, or 0
  /// where the device takes native products.
  virtual int64_t group_columns(int64_t n, int64_t nb) const = 0;
  /// Takes the memory of planes and of sums of products; a null arena counts.
  virtual void carve(Arena& arena, int64_t n, int64_t nb, int64_t group) = 0;
  /// Begins a factorization: each row is scaled by its element of the diagonal.
  /// @param diagonal of the matrix, in host memory, until the end of the call.
  virtual void begin(Queue queue, const T* diagonal) = 0;
  /// Converts the columns of a finished panel into columns of a slot, from `column` on.
  /// @param A from row `row` of the matrix on to its last one.
  virtual void quantize(Queue queue, int slot, const View<T>& A, int64_t row, int64_t column,
                        int64_t columns) = 0;
  /// Whether the rows quantized so far are within the bound that makes their products exact. The
  /// device must have completed that work.
  virtual bool is_exact() = 0;
  /// C -= X Y^H, where X and Y are the rows of the slot from `row` and from `column` of the matrix.
  /// Elements above the diagonal of the matrix are not changed.
  virtual void update(Queue queue, int slot, const View<T>& C, int64_t row, int64_t column,
                      int64_t rows, int64_t columns) = 0;
};

}  // namespace chol::backend
