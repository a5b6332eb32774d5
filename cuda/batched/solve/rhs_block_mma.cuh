// 16 rows of right-hand sides in the registers of a warp, their products by double precision tensor
// cores, and their layout in shared memory.
#pragma once

#include "batched/solve/rhs_view.cuh"
#include "common/warp_tile.cuh"

namespace chol::cuda {

template <class T, int kColumnCount>
struct TensorBlock {
  static constexpr int kOrder = 16, kColumns = kColumnCount, kTiles = kColumns / 8;
  static constexpr int kSteps = kOrder / 4;  ///< of a product, each four terms
  using Sum = Doubled<T>;                    ///< which represents single precision exactly
  Sum v[kTiles][2][2];  ///< tile, row lane / 4 and the eighth after it, right-hand side
                        ///< 2 (lane % 4) and the next

  /// body(element, row, column) for all elements of the lane, rows and columns relative to these.
  template <class Column, class Body>
  __device__ __forceinline__ void for_places(int first, Column column, int lane, Body&& body) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q)
          body(v[tile][r][q], first + 8 * r + lane / 4, column + 8 * tile + 2 * (lane % 4) + q);
  }
  template <class Body>
  __device__ __forceinline__ void for_own(int lane, Body&& body) {
    for_places(0, 0, lane, body);
  }
  __device__ __forceinline__ void clear() {
    for_own(0, [](Sum& own, int, int) { own = from_real<Sum>(0); });
  }
  __device__ __forceinline__ void assign_if(bool yes, const TensorBlock& other) {
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int q = 0; q < 2; ++q) v[tile][r][q] = select(yes, other.v[tile][r][q], v[tile][r][q]);
  }
  __device__ __forceinline__ void load(const RightHandSides<T>& rhs, int first, int64_t column,
                                       int lane) {
    for_places(first, column, lane, [&](Sum& own, int row, int64_t its_column) {
      const T* const b = rhs.at(row, its_column);
      const bool is_there = rhs.has(row, its_column);
      own = convert<Sum>(is_there ? conj_if(rhs.conjugated, *b) : from_real<T>(0));
    });
  }
  __device__ __forceinline__ void store(const RightHandSides<T>& rhs, int first, int64_t column,
                                        int lane) {
    for_places(first, column, lane, [&](Sum& own, int row, int64_t its_column) {
      T* const b = rhs.at(row, its_column);
      if (rhs.has(row, its_column)) *b = conj_if(rhs.conjugated, convert<T>(own));
    });
  }
  /// += the product of a 16 x 16 block and 16 rows.
  /// @param operand(step, half) the block's element of row lane / 4, in the second half eight
  /// further, and column 4 step + lane % 4.
  /// @param row(k, q) element q of row k of the others.
  template <class Operand, class Row>
  __device__ __forceinline__ void add_product(int lane, Operand&& operand, Row&& row) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const Sum e[2] = {convert<Sum>(operand(step, 0)), convert<Sum>(operand(step, 1))};
#pragma unroll
      for (int tile = 0; tile < kTiles; ++tile)
        TensorTile<Sum>::accumulate(v[tile][0], v[tile][1], e,
                                    conj(row(4 * step + lane % 4, 8 * tile + lane / 4)));
    }
  }
};

}  // namespace chol::cuda
