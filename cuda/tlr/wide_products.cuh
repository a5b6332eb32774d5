// Sums of products U V^H x of low rank tiles with many right-hand sides: first W = V^H x for all
// tiles, then the sum [U ...] W of each block row. A block computes the products of 64 or 128
// columns of V, which may belong to several tiles, or as many rows of a sum, with all right-hand
// sides of a call. Every sum has a fixed order.
#pragma once

#include "tlr/wide.hpp"
#include "tlr/wide_tile.cuh"

namespace chol::cuda::tlr {

/// The part of one block, for right factors or left ones.
template <class Shape>
class WideProducts {
  using T = typename Shape::T;
  using Copies = WideCopies<Shape>;
  static constexpr int kInner = Shape::kInner, kColumns = Shape::kColumns;

 public:
  __device__ WideProducts(const WideCall& call, void* memory)
      : call_(call), memory_(static_cast<T*>(memory)) {}

  /// W := the adjoint of columns of right factors times x.
  /// @param begin_column of right-hand sides
  /// @param all columns of W and x
  __device__ void multiply_right(const RightTask& task, int begin_column, int all) const {
    const int order = call_.starts[task.source + 1] - call_.starts[task.source];
    const T* columns[Copies::kAlong];
#pragma unroll
    for (int q = 0; q < Copies::kAlong; ++q) {
      const int m = smaller(Copies::row_along(q), task.count - 1);
      columns[q] = static_cast<const T*>(call_.right[task.first + m].elements);
    }
    WideTile<Shape> tile;
    add_along(
        tile, columns, order, 0, order, task.count,
        static_cast<const T*>(call_.X) + int64_t{call_.starts[task.source]} * all + begin_column,
        all);
    T* const W = static_cast<T*>(call_.W) + begin_column;
    const RightColumn* const right = call_.right + task.first;
    tile.each([&](int m, int j, T value) {
      if (m < task.count) W[right[m].row * all + j] = value;
    });
  }
  /// Calls body(row, column, sum) for the sums of a task.
  template <class Body>
  __device__ void multiply_left(const LeftTask& task, int begin_column, int all,
                                const Body& body) const {
    const int order = call_.starts[task.target + 1] - call_.starts[task.target];
    const int rows = smaller(Shape::kRows, order - task.row);
    WideTile<Shape> tile;
    add_left(tile, call_.left + task.first, task.end - task.first, task.row, order, begin_column,
             all);
    const T* const W = static_cast<const T*>(call_.W) + begin_column;
    tile.each([&](int m, int j, T value) {
      if (m >= rows) return;
      for (int d = task.first_identity; d < task.end_identity; ++d)
        value = add(value, W[(int64_t{call_.identities[d]} + task.row + m) * all + j]);
      body(task.row + m, j, value);
    });
  }
  /// Y += the sums of a task.
  __device__ void add_sums(const LeftTask& task, int begin_column, int all) const {
    const int start = call_.starts[task.target], columns = call_.columns - begin_column;
    T* const Y = static_cast<T*>(call_.Y) + begin_column * call_.column_step;
    multiply_left(task, begin_column, all, [&](int i, int j, T sum) {
      if (j >= columns) return;
      T& y = Y[(start + i) * call_.row_step + j * call_.column_step];
      y = add(y, sum);
    });
  }
  /// Stores the sums of a part instead.
  __device__ void set_part(const PartTask& task, int begin_column, int all) const {
    T* const to = static_cast<T*>(call_.parts) + (int64_t{task.to} - task.left.row) * all;
    multiply_left(task.left, begin_column, all,
                  [&](int i, int j, T sum) { to[int64_t{i} * all + begin_column + j] = sum; });
  }
  /// Y -= the sum of a task and of all parts.
  __device__ void subtract_all(const PartTask& task, int begin_column, int all) const {
    T* const Y =
        static_cast<T*>(call_.Y) + begin_column + int64_t{call_.starts[task.left.target]} * all;
    subtract_parts(task, begin_column, all, Y);
    __syncthreads();
    multiply_left(task.left, begin_column, all, [&](int i, int j, T sum) {
      T& y = Y[int64_t{i} * all + j];
      y = subtract(y, sum);
    });
  }
  /// Computes rows [row, row + kRows) of a stage of the solution, which begins at row `start` of X
  /// and Y.
  __device__ void solve(const T* inverse, int start, int order, int row, int begin_column,
                        int all) const {
    const int64_t first = int64_t{start} * all + begin_column;
    T* const x = static_cast<T*>(call_.X) + first;
    multiply_inverse(inverse, order, row, static_cast<const T*>(call_.Y) + first, all,
                     [&](int i, int j, T value) { x[int64_t{i} * all + j] = value; });
  }
  /// Computes rows [row, row + kRows) of inverse(L), or of its adjoint, times a right-hand side.
  template <class Body>
  __device__ void multiply_inverse(const T* inverse, int order, int row, const T* right, int all,
                                   const Body& body) const {
    const int beside = call_.has_pairs ? 1 : 0, rows = smaller(Shape::kRows, order - row);
    WideTile<Shape> tile;
    if (call_.adjoint) {
      const T* columns[Copies::kAlong];
#pragma unroll
      for (int q = 0; q < Copies::kAlong; ++q)
        columns[q] = inverse + int64_t{row + smaller(Copies::row_along(q), rows - 1)} * order;
      add_along(tile, columns, order, larger(row - beside, 0) / kInner * kInner, order, rows, right,
                all);
    } else {
      add_inverse(tile, inverse, order, row, smaller(row + rows + beside, order), right, all);
    }
    tile.each([&](int m, int j, T value) {
      if (m < rows) body(row + m, j, value);
    });
  }

 private:
  /// Subtracts the parts from a block's elements, in order, with many loads in flight.
  __device__ void subtract_parts(const PartTask& task, int begin_column, int all, T* Y) const {
    constexpr int kAhead = 16;
    const int order = call_.starts[task.left.target + 1] - call_.starts[task.left.target];
    const int rows = smaller(Shape::kRows, order - task.left.row);
    const T* const parts = static_cast<const T*>(call_.parts) + int64_t{task.to} * all;
    const int64_t step = int64_t{call_.part_rows} * all;
    for (int e = static_cast<int>(threadIdx.x); e < rows * kColumns; e += Shape::kThreads) {
      const int64_t at = int64_t{e / kColumns} * all + begin_column + e % kColumns;
      T& y = Y[int64_t{task.left.row} * all + at - begin_column];
      T value = y;
      for (int first = 0; first < call_.part_count; first += kAhead) {
        T part[kAhead];
#pragma unroll
        for (int k = 0; k < kAhead; ++k)
          part[k] = first + k < call_.part_count ? parts[(first + k) * step + at] : from_real<T>(0);
#pragma unroll
        for (int k = 0; k < kAhead; ++k) value = subtract(value, part[k]);
      }
      y = value;
    }
  }
  __device__ static bool is_aligned(int order) {
    return order * static_cast<int>(sizeof(T)) % 16 == 0;
  }
  /// Copies contiguous rows of a right factor.
  __device__ static void copy_rows(T* to, const T* right, int k0, int end, int all) {
#pragma unroll
    for (int q = 0; q < Copies::kRight; ++q) {
      if (!Copies::has_right(q)) break;
      const int k = Copies::inner_of_right(q), column = Copies::column_of_right(q);
      const bool there = k0 + k < end;
      Copies::copy(to + k * Shape::kRightPitch + column,
                   right + (there ? int64_t{k0 + k} * all : 0) + column, there ? Shape::kPiece : 0,
                   true);
    }
  }
  /// Adds the adjoint of columns, elements [begin, end), times rows of `right`.
  __device__ void add_along(WideTile<Shape>& tile, const T* const (&columns)[Copies::kAlong],
                            int order, int begin, int end, int rows, const T* right,
                            int all) const {
    const bool aligned = is_aligned(order);
    const auto issue = [&](int step, T* A, T* B) {
      const int k0 = begin + step * kInner;
#pragma unroll
      for (int q = 0; q < Copies::kAlong; ++q) {
        const int m = Copies::row_along(q), k = Copies::inner_along(q);
        if (m < rows)
          Copies::copy(A + m * Shape::kInnerPitch + k, columns[q] + smaller(k0 + k, end - 1),
                       end - k0 - k, aligned && k0 + k < end);
      }
      copy_rows(B, right, k0, end, all);
    };
    add_steps<WideAlong<Shape>>(tile, (end - begin + kInner - 1) / kInner, rows, memory_, issue);
    tile.add_shares(reinterpret_cast<double*>(memory_));
  }
  /// Adds contiguous columns of an inverse times rows of `right`.
  __device__ void add_inverse(WideTile<Shape>& tile, const T* inverse, int order, int row, int end,
                              const T* right, int all) const {
    const bool aligned = is_aligned(order);
    const auto issue = [&](int step, T* A, T* B) {
      const int k0 = step * kInner;
#pragma unroll
      for (int q = 0; q < Copies::kAcross; ++q)
        copy_across(A, q, inverse + int64_t{smaller(k0 + Copies::inner_across(q), end - 1)} * order,
                    k0 + Copies::inner_across(q) < end, row, order, aligned);
      copy_rows(B, right, k0, end, all);
    };
    add_steps<WideAcross<Shape>>(tile, (end + kInner - 1) / kInner,
                                 smaller(Shape::kRows, order - row), memory_, issue);
    tile.add_shares(reinterpret_cast<double*>(memory_));
  }
  /// Copies piece q of rows of a column, or zeros behind the end of the sum.
  __device__ static void copy_across(T* A, int q, const T* column, bool there, int row, int order,
                                     bool aligned) {
    const int m = Copies::row_across(q), k = Copies::inner_across(q);
    if (row + m >= order) return;
    Copies::copy(A + k * Shape::kPitch + m, column + row + m, there ? order - row - m : 0, aligned);
  }
  __device__ const T* row_of(int64_t row, int all) const {
    return row >= 0 ? static_cast<const T*>(call_.W) + row * all
                    : static_cast<const T*>(call_.X) + ~row * all;
  }
  /// Adds columns of a list times the rows given in it. The list is read one step before the
  /// columns.
  __device__ void add_left(WideTile<Shape>& tile, const LeftColumn* list, int count, int row,
                           int order, int begin_column, int all) const {
    if (count == 0) return;
    const bool aligned = is_aligned(order);
    const T *columns[Copies::kAcross], *rows[Copies::kRight];
    const auto look_up = [&](int k0) {
#pragma unroll
      for (int q = 0; q < Copies::kAcross; ++q)
        columns[q] =
            static_cast<const T*>(list[smaller(k0 + Copies::inner_across(q), count - 1)].elements);
#pragma unroll
      for (int q = 0; q < Copies::kRight; ++q)
        rows[q] = row_of(list[smaller(k0 + Copies::inner_of_right(q), count - 1)].row, all) +
                  begin_column;
    };
    look_up(0);
    const auto issue = [&](int step, T* A, T* B) {
      const int k0 = step * kInner;
#pragma unroll
      for (int q = 0; q < Copies::kAcross; ++q)
        copy_across(A, q, columns[q], k0 + Copies::inner_across(q) < count, row, order, aligned);
#pragma unroll
      for (int q = 0; q < Copies::kRight; ++q) {
        if (!Copies::has_right(q)) break;
        const int k = Copies::inner_of_right(q), column = Copies::column_of_right(q);
        Copies::copy(B + k * Shape::kRightPitch + column, rows[q] + column,
                     k0 + k < count ? Shape::kPiece : 0, true);
      }
      look_up(k0 + kInner);
    };
    add_steps<WideAcross<Shape>>(tile, (count + kInner - 1) / kInner,
                                 smaller(Shape::kRows, order - row), memory_, issue);
    tile.add_shares(reinterpret_cast<double*>(memory_));
  }

  const WideCall& call_;
  T* memory_;
};

/// Copies X, column-major, to row-major order, padded by zero columns.
template <class T>
struct WideTranspose {
  static constexpr int kTile = 32, kThreads = 256, kPitch = kTile + 1;
  /// Copies a tile with rows from `row` and columns from `column` on.
  __device__ static void gather(const T* X, int64_t ldx, int64_t n, int columns, T* to, int all,
                                int64_t row, int column, T* memory) {
    const int thread = static_cast<int>(threadIdx.x), i = thread % kTile;
    for (int j = thread / kTile; j < kTile; j += kThreads / kTile)
      memory[j * kPitch + i] =
          row + i < n && column + j < columns ? X[row + i + (column + j) * ldx] : from_real<T>(0);
    __syncthreads();
    for (int j = thread / kTile; j < kTile; j += kThreads / kTile)
      if (row + j < n) to[(row + j) * all + column + i] = memory[i * kPitch + j];
  }
  __device__ static void scatter(const T* from, int all, int64_t n, int columns, T* X, int64_t ldx,
                                 int64_t row, int column, T* memory) {
    const int thread = static_cast<int>(threadIdx.x), i = thread % kTile;
    for (int j = thread / kTile; j < kTile; j += kThreads / kTile)
      if (row + j < n) memory[i * kPitch + j] = from[(row + j) * all + column + i];
    __syncthreads();
    for (int j = thread / kTile; j < kTile; j += kThreads / kTile)
      if (row + i < n && column + j < columns)
        X[row + i + (column + j) * ldx] = memory[j * kPitch + i];
  }
};

}  // namespace chol::cuda::tlr
