// Bordering in solve/warp/kernel.cuh: a few rows beyond a multiple of the lanes are solved between
// the two substitutions over all other rows, so that no lane has one more row for them.
#pragma once

#include <cstdint>

#include "common/batch_view.cuh"
#include "common/cp_async.cuh"
#include "common/warp_reduce.cuh"

namespace chol::cuda {

inline constexpr int kMostBorder = 8;  ///< rows

/// Up to kRows rows below 32 kGroup others. They are in shared memory by columns, those past the
/// order as zeros; a single row of small elements is in registers, which is faster for scattered
/// elements. A lane solves for the row with its number modulo kRows.
template <class T, bool kSwapped, int kGroup, int kColumns, int kRows>
struct WarpBorder {
  static constexpr int kInner = 32 * kGroup;
  static constexpr int kPitch = kRows == 1 ? 1 : kRows + 1;  ///< odd, for lanes along a row
  static constexpr bool kIsHeld = kRows == 1 && !kSwapped && sizeof(T) < 16;
  static constexpr int kElements = kIsHeld ? 0 : kPitch * (kInner + kRows);
  T* data;
  int rows;  ///< that are there
  int lane;
  T held[kGroup], diagonal;
  T right_hand_sides[kColumns];

  /// Requests the rows, before or after the triangle.
  template <bool kBefore>
  __device__ __forceinline__ void start(const LowerView<T>& A) {
    if constexpr (kIsHeld && !kBefore) {
#pragma unroll
      for (int b = 0; b < kGroup; ++b) held[b] = *A.at(kInner, kGroup * lane + b);
      diagonal = *A.at(kInner, kInner);
    } else if constexpr (!kIsHeld && kBefore) {
      start_copies(A);
    }
  }
  /// @param B of the first of the rows, of `columns` right-hand sides ldb apart.
  __device__ __forceinline__ void load(const T* B, int64_t ldb, int64_t columns, bool conjugated) {
    const int own = lane % kRows;
#pragma unroll
    for (int q = 0; q < kColumns; ++q)
      right_hand_sides[q] =
          own < rows && q < columns ? conj_if(conjugated, B[own + q * ldb]) : from_real<T>(0);
  }
  /// Solves for the rows' unknowns, subtracts them from the others and stores them.
  __device__ __forceinline__ void pass(T (&others)[kGroup][kColumns], T* B, int64_t ldb,
                                       int64_t columns, bool conjugated) const {
    const int own = lane % kRows;
    T of_own[kRows];  // its row left of the diagonal, then its column
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      of_own[r] = r < own ? of_triangle(own, r) : conj(of_triangle(r, own));
    const Real<T> inverse = own < rows ? Real<T>(1) / real(of_triangle(own, own)) : Real<T>(0);
    __syncwarp();  // all lanes of a row have read the value that one of them overwrites
#pragma unroll
    for (int q = 0; q < kColumns; ++q) {
      T x = add(right_hand_sides[q], sum_products(others, q));
#pragma unroll
      for (int r = 0; r + 1 < kRows; ++r) {
        const T known = from_lane(scale(x, inverse), r);
        if (own > r) x = subtract_product(x, of_own[r], known);
      }
      x = scale(x, inverse);
#pragma unroll
      for (int r = kRows - 1; r >= 0; --r) {
        const T known = from_lane(scale(x, inverse), r);
        if (own < r) x = subtract_product(x, of_own[r], known);
#pragma unroll
        for (int b = 0; b < kGroup; ++b)
          others[b][q] = subtract_product(others[b][q], conj(of_lane(r, b)), known);
      }
      if (lane < rows && q < columns) B[lane + q * ldb] = conj_if(conjugated, scale(x, inverse));
    }
  }

 private:
  __device__ __forceinline__ T* at(int row, int column) const {
    return data + column * kPitch + row;
  }
  /// Element (row, column) of the triangle below the others.
  __device__ __forceinline__ T of_triangle(int row, int column) const {
    if constexpr (kIsHeld)
      return diagonal;
    else
      return *at(row, kInner + column);
  }
  /// The element of the row in the column of the lane's row b.
  __device__ __forceinline__ T of_lane(int row, int b) const {
    if constexpr (kIsHeld)
      return held[b];
    else
      return *at(row, kGroup * lane + b);
  }
  /// Adjacent lanes read contiguous memory.
  __device__ __forceinline__ void start_copies(const LowerView<T>& A) const {
    constexpr int kDown = kSwapped ? 1 : kRows, kAlong = 32 / kDown;
    constexpr int kAll = kInner + kRows;
#pragma unroll 4
    for (int first = 0; first < kAll; first += kAlong) {
      const int column = first + lane / kDown;
#pragma unroll
      for (int down = 0; down < kRows; down += kDown) {
        const int row = down + lane % kDown;
        if (column >= kAll) continue;
        const bool is_there = row < rows && column <= kInner + row;
        copy_async<sizeof(T)>(shared_address(at(row, column)),
                              is_there ? A.at(kInner + row, column) : A.a,
                              is_there ? int(sizeof(T)) : 0);
      }
    }
  }
  /// The sum that the others subtract from the lane's row.
  __device__ __forceinline__ T sum_products(const T (&others)[kGroup][kColumns], int q) const {
    T sums[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      sums[r] = from_real<T>(0);
#pragma unroll
      for (int b = 0; b < kGroup; ++b)
        sums[r] = subtract_product(sums[r], of_lane(r, b), others[b][q]);
    }
    return sum_lanes_each<kRows>(sums, lane);
  }
};

}  // namespace chol::cuda
