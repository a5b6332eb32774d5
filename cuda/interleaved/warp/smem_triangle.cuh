// The triangles of a block's matrices in shared memory, not interleaved.
#pragma once

#include "common/cp_async.cuh"
#include "interleaved/element_access.cuh"
#include "interleaved/kernels.hpp"

namespace chol::cuda {

/// Block columns of kColumns, as consecutive rectangles from their diagonal down; the first one may
/// be narrower. Elements above the diagonal are undefined; the narrow one is padded by zeros to a
/// multiple of four columns. The pitch of the columns is such that the operands of tensor cores, of
/// eight rows by four columns, have no bank conflicts. @tparam kTight whether the last block
/// columns, which have few operands, have a smaller pitch.
template <class T, int kColumnCount, bool kTight>
struct ResidentTriangle {
  using Element = T;
  static constexpr int kColumns = kColumnCount;
  static constexpr int kPad = 32 / int(sizeof(T));  ///< elements
  static constexpr int kOfLast = 2, kLastPad = kTight && sizeof(T) < 16 ? kPad / 2 : kPad;
  T* a;
  int n;

  __host__ __device__ static constexpr int blocks(int n) { return (n + kColumns - 1) / kColumns; }
  /// First column of block column J.
  __host__ __device__ static constexpr int start(int n, int J) {
    return larger(0, n - (blocks(n) - J) * kColumns);
  }
  /// Columns of block column J, and those that are stored.
  __host__ __device__ static constexpr int width(int n, int J) {
    return start(n, J + 1) - start(n, J);
  }
  __host__ __device__ static constexpr int stored(int n, int J) {
    return (width(n, J) + 3) / 4 * 4;
  }
  __host__ __device__ static constexpr int pitch(int n, int J) {
    const int rest = blocks(n) - J;
    return rest * kColumns + (rest > kOfLast ? kPad : kLastPad);
  }
  __host__ __device__ static constexpr int offset(int n, int J) {
    const int whole = J - 1, wide = larger(0, smaller(whole, blocks(n) - 1 - kOfLast));
    return J == 0
               ? 0
               : stored(n, 0) * pitch(n, 0) +
                     kColumns * (whole * ((blocks(n) - 1) * kColumns + kLastPad) +
                                 wide * (kPad - kLastPad) - kColumns * (whole * (whole - 1) / 2));
  }
  __host__ __device__ static constexpr int elements(int n) {
    const int last = blocks(n) - 1;
    return offset(n, last) + stored(n, last) * pitch(n, last);
  }

  /// Block column J from its row `row` on, counted from the matrix' first.
  __device__ __forceinline__ LowerView<T> rows(int J, int row) const {
    return {a + offset(n, J) + row - start(n, J), pitch(n, J), false};
  }
};

/// Place for the inverse of a block's diagonal element c: above the diagonal, in the last column,
/// except that of the last element; in narrow blocks that one in a padding column.
template <class T>
__device__ __forceinline__ Real<T>* inverse_of_diagonal(const LowerView<T>& block, int columns,
                                                        int c) {
  const bool is_last = c + 1 == columns;
  const int column = !is_last ? columns - 1 : columns > 2 ? columns - 2 : columns;
  return reinterpret_cast<Real<T>*>(block.a + (is_last ? 0 : c) + column * int(block.ld));
}

/// Shared memory of a block of kThreads: kMatrices triangles, and the part of a thread in the
/// transfers. Lanes run over the matrices first, then over rows; warps over columns.
template <class Triangle, int kMatrices, int kThreads>
struct ResidentTriangles {
  using T = typename Triangle::Element;
  static constexpr int kRowsAtOnce = 32 / kMatrices, kWarps = kThreads / 32;
  static constexpr int kUnrolled = 4;
  Triangle own;
  LaneMatrix<Lane<T>> A;
  int row, warp;
  bool inside;

  /// Distance of the matrices, which distributes them over the banks.
  __host__ __device__ static constexpr int distance(int n) {
    constexpr int kLine = 128 / int(sizeof(T));
    return (Triangle::elements(n) + kLine - 1) / kLine * kLine + 4;
  }
  /// Starts the copy of block column J, if it exists, as a group.
  __device__ __forceinline__ void fetch(int J) const {
    const int n = own.n, pitch = Triangle::pitch(n, 0);
    if (J == 0)
      for (int c = Triangle::width(n, 0) + warp; c < Triangle::stored(n, 0); c += kWarps)
        for (int i = row; i < n; i += kRowsAtOnce) own.a[c * pitch + i] = from_real<T>(0);
    if (J < Triangle::blocks(n))
      over_elements(J, [](T* s, const T* p) { copy_async_of_line<sizeof(T), false>(s, p); });
    close_copy_group();
  }
  /// Stores block column J in device memory.
  __device__ __forceinline__ void store(int J) const {
    over_elements(J, [](const T* s, T* p) {
      write_in_order(reinterpret_cast<Lane<T>*>(p), *reinterpret_cast<const Lane<T>*>(s));
    });
  }
  /// Calls body(row) for the thread's elements of a vector.
  template <class Body>
  __device__ __forceinline__ void over_rows(Body&& body) const {
    if (!inside) return;
    for (int i = row + warp * kRowsAtOnce; i < own.n; i += kWarps * kRowsAtOnce) body(i);
  }

 private:
  /// Calls body(element in shared memory, in device memory) for the thread's elements of block
  /// column J.
  template <class Body>
  __device__ __forceinline__ void over_elements(int J, Body&& body) const {
    if (!inside) return;
    const int n = own.n, j = Triangle::start(n, J), width = Triangle::width(n, J);
    const int pitch = Triangle::pitch(n, J);
    const int64_t step = kRowsAtOnce * A.rs, next_column = kWarps * (A.rs + A.cs);
    // From the diagonal on; column addresses are computed incrementally.
    T* column = own.a + Triangle::offset(n, J) + warp * (pitch + 1) + row;
    T* from = reinterpret_cast<T*>(&A.at(j + warp + row, j + warp));
    int rows = n - j - warp - row;
#pragma unroll 1
    for (int c = warp; c < width; c += kWarps) {
      T *s = column, *p = from;
#pragma unroll 1
      for (int left = rows; left > 0; left -= kUnrolled * kRowsAtOnce, s += kUnrolled * kRowsAtOnce)
#pragma unroll
        for (int u = 0; u < kUnrolled; ++u, p = walked(p + step))
          if (left > u * kRowsAtOnce) body(s + u * kRowsAtOnce, p);
      column += kWarps * (pitch + 1);
      from = walked(from + next_column);
      rows -= kWarps;
    }
  }
};

}  // namespace chol::cuda
