// Samples of the tiles of a block column of the factor, Y_i = (A_ik - sum L_ij L_kj^H) Omega and
// X_i = (...)^H Psi, from tables of the finished block columns. U_ij^H Psi is formed once, when
// tile (i, j) is finished.
#pragma once

#include "tlr/pipeline.cuh"

namespace chol::cuda::tlr {

/// -G_ij X_kj below those of the columns before in Z_i, and -G_ij^H F_ij in H_i. Stored by rows,
/// they are the transposes of what is computed. Zeros where one of the two tiles is of rank 0.
template <class T>
__device__ MiddleItem<T> middle_product(const ColumnItem& c, int j, const ColumnRow& row,
                                        bool second) {
  const FactorTables& t = c.tables;
  const size_t pitch = t.tiles + 1;
  const int* const starts = t.starts + j * pitch;
  const int first = starts[row.index], rank = starts[row.index + 1] - first;
  const int other = starts[c.k + 1] - starts[c.k];
  const auto place = [&](int i) {  // among the vectors of row i that the sums are over
    return static_cast<size_t>(t.row_starts[i * pitch + j] - t.row_starts[i * pitch + c.from]);
  };
  const T* const G =
      static_cast<const T*>(c.G[j - c.from]) + static_cast<size_t>(first - starts[c.k + 1]) * other;
  if (second)
    return {static_cast<const T*>(t.F[j]) + static_cast<size_t>(first) * t.ld,
            G,
            static_cast<T*>(row.H) + place(c.k) * row.ldh,
            row.left_samples,
            other,
            rank,
            t.ld,
            other,
            row.ldh};
  return {static_cast<const T*>(c.X) + place(c.k) * c.ldx,
          G,
          static_cast<T*>(row.Z) + place(row.index) * row.ldz,
          row.samples,
          rank,
          other,
          c.ldx,
          other,
          row.ldz};
}

/// block.x: j from item.from on, block.y: row, block.z: whether the second product of the two, and
/// which of kMiddleParts parts of its tiles.
inline constexpr unsigned kMiddleParts = 4;
template <class T, int kColumns>
__device__ void compute_middle_products(MiddleTiles<T, kColumns>& tiles, const ColumnItem& item) {
  const ColumnRow row = item.rows[blockIdx.y];
  const bool second = blockIdx.z % 2 != 0;
  const MiddleItem<T> product =
      middle_product<T>(item, item.from + static_cast<int>(blockIdx.x), row, second);
  constexpr int kRows = ProductShape<T>::kRows;
  const int down = (product.m + kRows - 1) / kRows;
  const int count = down * ((product.n + kColumns - 1) / kColumns);
  for (int tile = static_cast<int>(blockIdx.z / 2); tile < count;
       tile += static_cast<int>(kMiddleParts)) {
    __syncthreads();
    const int m0 = tile % down * kRows, n0 = tile / down * kColumns;
    if (second)
      compute_middle_tile<T, kColumns, false>(tiles, product, m0, n0);
    else
      compute_middle_tile<T, kColumns, true>(tiles, product, m0, n0);
  }
}
/// Y_i or X_i.
template <class T>
__device__ WideItem sum_of_row(const ColumnItem& c, const ColumnRow& row, bool second) {
  const FactorTables& t = c.tables;
  const size_t pitch = t.tiles + 1;
  const int index = second ? c.k : row.index;
  const int first = c.to > 0 ? t.row_starts[index * pitch + c.from] : 0;
  const int listed = c.to > 0 ? t.row_starts[index * pitch + c.to] - first : 0;
  return {t.U + index * t.most_of_row + first,
          second ? row.V : row.U,
          second ? row.H : row.Z,
          second ? row.X : row.Y,
          second ? c.order : row.order,
          second ? row.left_samples : row.samples,
          listed,
          listed + row.rank,
          second ? row.ldh : row.ldz,
          c.from > 0};
}

/// Enters the tiles of block column k into the tables: a block a tile.
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
