// Samples of the tiles of a block column of the factor, Y_i = (A_ik - sum L_ij L_kj^H) Omega and
// X_i = (...)^H Psi, from tables of the finished block columns. U_ij^H Psi is computed once, when
// tile (i, j) is finished.
#pragma once

#include "tlr/pipeline.cuh"

namespace chol::cuda::tlr {

/// -G_ij X_kj is stored in Z_i below the products of earlier columns, and -G_ij^H F_ij in H_i. Both
/// are stored in row-major order, as the transposes of the computed products. They are zero if one
/// of the two tiles has rank 0.
template <class T>
__device__ MiddleItem<T> middle_product(const ColumnItem& c, int j, const ColumnRow& row,
                                        bool second) {
  const FactorTables& t = c.tables;
  const size_t pitch = t.tiles + 1;
  const int* const starts = t.starts + j * pitch;
  const int first = starts[row.index], rank = starts[row.index + 1] - first;
  const int other = starts[c.k + 1] - starts[c.k];
  const int ldg = (other + kRowPitch - 1) / kRowPitch * kRowPitch;
  const auto place = [&](int i) {  // among the vectors of row i that are summed
    return static_cast<size_t>(t.row_starts[i * pitch + j] - t.row_starts[i * pitch + c.from]);
  };
  const T* const G =
      static_cast<const T*>(c.G[j - c.from]) + static_cast<size_t>(first - starts[c.k + 1]) * ldg;
  if (second)
    return {static_cast<const T*>(t.F[j]) + static_cast<size_t>(first) * t.ld,
            G,
            static_cast<T*>(row.H) + place(c.k) * row.ldh,
            row.left_samples,
            other,
            rank,
            t.ld,
            ldg,
            row.ldh};
  return {static_cast<const T*>(c.X) + place(c.k) * c.ldx,
          G,
          static_cast<T*>(row.Z) + place(row.index) * row.ldz,
          row.samples,
          rank,
          other,
          c.ldx,
          ldg,
          row.ldz};
}

/// block.x: kMiddleItems of the j from item.from on. block.y: row. block.z: which of the two
/// products, and which of the `parts` parts of its tiles.
template <class T, int kColumns>
__device__ void compute_middle_products(MiddleTiles<T, kColumns>& tiles, const ColumnItem& item,
                                        int parts) {
  const bool second = blockIdx.z % 2 != 0;
  // Ranks are largest near the diagonal, so those blocks are not scheduled last.
  const int groups = (item.to - item.from + kMiddleItems - 1) / kMiddleItems;
  const int first = item.from + (groups - 1 - static_cast<int>(blockIdx.x)) * kMiddleItems;
  const int count = item.to - first < kMiddleItems ? item.to - first : kMiddleItems;
  if (static_cast<int>(threadIdx.x) < count)
    tiles.items[threadIdx.x] = middle_product<T>(item, first + static_cast<int>(threadIdx.x),
                                                 item.rows[blockIdx.y], second);
  __syncthreads();
  const int part = static_cast<int>(blockIdx.z / 2);
  if (second)
    compute_middle_items<T, kColumns, false>(tiles, count, part, parts);
  else
    compute_middle_items<T, kColumns, true>(tiles, count, part, parts);
}
/// Y_i or X_i. If all X_i are computed by one product, only the term of A_ik of X_i.
template <class T>
__device__ WideItem sum_of_row(const ColumnItem& c, const ColumnRow& row, bool second) {
  const FactorTables& t = c.tables;
  const int index = second ? c.k : row.index;
  const int* const starts = t.row_starts + index * static_cast<size_t>(t.tiles + 1);
  const bool is_own = second && c.joint_columns > 0;
  const int first = c.to > 0 ? starts[c.from] : 0;
  WideItem item{};
  item.list = t.U + index * t.most_of_row + first;
  item.last = second ? row.V : row.U;
  item.B = is_own ? row.own_H : second ? row.H : row.Z;
  item.C = second ? row.X : row.Y;
  item.m = second ? c.order : row.order;
  item.n = second ? row.left_samples : row.samples;
  item.listed = !is_own && c.to > 0 ? starts[c.to] - first : 0;
  item.all = item.listed + row.rank;
  item.ldb = is_own ? row.ld_own_h : second ? row.ldh : row.ldz;
  item.adds = c.from > 0;
  return item;
}
/// The other terms of all X_i.
template <class T>
__device__ WideItem sum_of_rows(const ColumnItem& c) {
  const FactorTables& t = c.tables;
  const int* const starts = t.row_starts + c.k * static_cast<size_t>(t.tiles + 1);
  WideItem item{};
  item.list = t.U + c.k * t.most_of_row + starts[c.from];
  item.B = c.rows[0].H;
  item.columns = c.columns;
  item.m = c.order;
  item.n = c.joint_columns;
  item.listed = item.all = starts[c.to] - starts[c.from];
  item.ldb = c.ld_joint;
  item.adds = true;
  return item;
}

/// Adds the tiles of block column k to the tables, one block per tile.
template <class T>
__global__ void enter_tiles_kernel(const FinishedTile* __restrict__ tiles, int count, int k,
                                   int columns_k, int all, int64_t most_of_row, int* starts,
                                   int* row_starts, const void** V, const void** U) {
  const FinishedTile tile = tiles[blockIdx.x];
  const size_t pitch = all + 1;
  for (int c = threadIdx.x; c < tile.rank; c += blockDim.x) {
    V[tile.start + c] = static_cast<const T*>(tile.V) + static_cast<size_t>(c) * columns_k;
    U[tile.index * most_of_row + tile.row_start + c] =
        static_cast<const T*>(tile.U) + static_cast<size_t>(c) * tile.rows;
  }
  if (threadIdx.x > 0) return;
  starts[k * pitch + tile.index] = tile.start;
  if (static_cast<int>(blockIdx.x) == count - 1)
    starts[k * pitch + tile.index + 1] = tile.start + tile.rank;
  row_starts[tile.index * pitch + k + 1] = tile.row_start + tile.rank;
}

}  // namespace chol::cuda::tlr
