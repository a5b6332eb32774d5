// Common parts of solve/tile/rhs_fma.cuh and solve/tile/rhs_mma.cuh: right-hand sides in the
// registers of a warp, by tiles of eight rows, and their products with the tiles of a TileTriangle.
// Both have
//  - Value: a lane's part of eight rows of kWidth right-hand sides;
//  - Operand: the same rows as the right factor of a product;
//  - Fragment: a lane's part of op(tile), which is the tile in the forward sweep and its conjugate
//    transpose in the backward one.
#pragma once

#include "batched/solve/tile/smem_triangle.cuh"

namespace chol::cuda {

/// Number of right-hand sides.
template <class T>
struct RightHandSides {
  T* B;
  int64_t ldb;
  int64_t columns;
  int n;
  bool conjugated;

  __device__ __forceinline__ bool has(int row, int64_t column) const {
    return row < n && column < columns;
  }
  __device__ __forceinline__ T* at(int row, int64_t column) const { return B + column * ldb + row; }
};

}  // namespace chol::cuda
