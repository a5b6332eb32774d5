// Samples of the tiles of a block column of the factor, Y_i = (A_ik - sum L_ij L_kj^H) Omega and
// X_i = (...)^H Psi, from tables of tiles: no product has a descriptor of its own.
#pragma once

#include "tlr/products.cuh"

namespace chol::cuda::tlr {

template <class T>
struct ColumnProducts {
  ColumnItem c;

  __device__ const ColumnTile& left(int r, int j) const {
    return c.left[static_cast<size_t>(r) * c.count + j];
  }
  __device__ static const T* at(const void* base, int64_t offset) {
    return static_cast<const T*>(base) + offset;
  }
  __device__ static T* at(void* base, int64_t offset) { return static_cast<T*>(base) + offset; }

  /// V_ij^H V_kj or U_ij^H Psi; for j = count of the tile's own V^H Omega or U^H Psi.
  __device__ bool inner(int r, int j, bool second, Sum* sum, Term* term) const {
    const ColumnRow& row = c.rows[r];
    const bool is_own = j == c.count;
    if (is_own && row.own.rank < 0) return false;  // a dense one
    const ColumnTile& tile = is_own ? row.own : left(r, j);
    if (tile.rank == 0 || (!is_own && c.right[j].rank == 0)) return false;
    if (second) {
      *sum = {at(row.F, int64_t{tile.row} * row.left_samples),
              tile.rank,
              row.left_samples,
              tile.rank,
              0,
              1,
              1};
      *term = {tile.U, c.psi, row.order, row.order, c.ld, kAdjointA};
    } else if (is_own) {
      *sum = {
          at(row.Z, int64_t{tile.row} * row.samples), tile.rank, row.samples, tile.rank, 0, 1, 1};
      *term = {tile.V, c.omega, c.order, c.order, c.ld, kAdjointA};
    } else {
      *sum = {at(row.G, tile.core), tile.rank, c.right[j].rank, tile.rank, 0, 1, 1};
      *term = {tile.V, c.right[j].V, c.tile, c.tile, c.tile, kAdjointA};
    }
    return true;
  }
  /// G_ij X_kj or G_ij^H F_ij.
  __device__ bool middle(int r, int j, bool second, Sum* sum, Term* term) const {
    const ColumnRow& row = c.rows[r];
    const ColumnTile &tile = left(r, j), &right = c.right[j];
    if (tile.rank == 0 || right.rank == 0) return false;
    const T* const G = at(row.G, tile.core);
    if (second) {
      *sum = {at(row.H, int64_t{right.row} * row.left_samples),
              right.rank,
              row.left_samples,
              right.rank,
              0,
              1,
              1};
      *term = {G,         at(row.F, int64_t{tile.row} * row.left_samples),
               tile.rank, tile.rank,
               tile.rank, kAdjointA};
    } else {
      *sum = {
          at(row.Z, int64_t{tile.row} * row.samples), tile.rank, row.samples, tile.rank, 0, 1, 1};
      *term = {G, at(c.X, right.core), right.rank, tile.rank, right.rank, 0};
    }
    return true;
  }

  /// The terms of Y_i or X_i: the tile itself, then those of the columns before.
  struct Terms {
    const ColumnProducts& products;
    int r, j;  ///< -1: the tile itself
    bool second;
    __device__ bool next(Term* term) {
      const ColumnItem& c = products.c;
      const ColumnRow& row = c.rows[r];
      for (; j < c.count; ++j) {
        if (j < 0) {
          const ColumnTile& own = row.own;
          if (own.rank == 0) continue;
          if (own.rank < 0 && second)
            *term = {own.U, c.psi, row.order, row.order, c.ld, kAdjointA};
          else if (own.rank < 0)
            *term = {own.U, c.omega, c.order, row.order, c.ld, 0};
          else if (second)
            *term = {own.V,    at(row.F, int64_t{own.row} * row.left_samples),
                     own.rank, c.order,
                     own.rank, 0};
          else
            *term = {
                own.U, at(row.Z, int64_t{own.row} * row.samples), own.rank, row.order, own.rank, 0};
          ++j;
          return true;
        }
        const ColumnTile &tile = products.left(r, j), &right = c.right[j];
        if (tile.rank == 0 || right.rank == 0) continue;
        if (second)
          *term = {right.U,    at(row.H, int64_t{right.row} * row.left_samples),
                   right.rank, c.order,
                   right.rank, kSubtract};
        else
          *term = {tile.U,    at(row.Z, int64_t{tile.row} * row.samples),
                   tile.rank, row.order,
                   tile.rank, kSubtract};
        ++j;
        return true;
      }
      return false;
    }
  };
};

/// block.x: j, block.y: row, block.z: whether the second product of the two.
template <class T, int kColumns, bool is_middle>
__global__ void __launch_bounds__(kProductThreads) column_products_kernel(ColumnItem item) {
  __shared__ ProductTiles<T, kColumns> tiles;
  const ColumnProducts<T> products{item};
  Sum sum;
  Term term;
  const int j = blockIdx.x, r = blockIdx.y;
  const bool second = blockIdx.z != 0;
  if (!(is_middle ? products.middle(r, j, second, &sum, &term)
                  : products.inner(r, j, second, &sum, &term)))
    return;
  for (int m0 = 0; m0 < sum.m; m0 += ProductShape<T>::kRows)
    for (int n0 = 0; n0 < sum.n; n0 += kColumns) {
      __syncthreads();
      compute_tile<T, kColumns>(tiles, sum, ListedTerms{&term, &term + 1}, m0, n0);
    }
}

/// block.x, block.y: the tile of Y_i or X_i, block.z: i and which of the two.
template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads) column_sums_kernel(ColumnItem item) {
  __shared__ ProductTiles<T, kColumns> tiles;
  const ColumnProducts<T> products{item};
  const int r = blockIdx.z / 2;
  const bool second = blockIdx.z % 2 != 0;
  const ColumnRow& row = item.rows[r];
  const Sum sum{second ? row.X : row.Y,
                second ? item.order : row.order,
                second ? row.left_samples : row.samples,
                second ? item.order : row.order,
                0,
                1,
                1};
  const int m0 = blockIdx.x * ProductShape<T>::kRows, n0 = blockIdx.y * kColumns;
  if (m0 >= sum.m || n0 >= sum.n) return;
  compute_tile<T, kColumns>(tiles, sum, typename ColumnProducts<T>::Terms{products, r, -1, second},
                            m0, n0);
}

}  // namespace chol::cuda::tlr
