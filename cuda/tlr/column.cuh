// Samples of the tiles of a block column of the factor, Y_i = (A_ik - sum L_ij L_kj^H) Omega and
// X_i = (...)^H Psi, from tables of the finished block columns. U_ij^H Psi is formed once, when
// tile (i, j) is finished.
#pragma once

#include "tlr/pipeline.cuh"

namespace chol::cuda::tlr {

/// -G_ij X_kj below those of the columns before in Z_i, and -G_ij^H F_ij in H_i. Stored by rows,
/// they are the transposes of what is computed. Zeros where one of the two tiles is of rank 0.
template <class T>
__device__ void middle_product(const ColumnItem& c, int j, const ColumnRow& row, bool second,
                               Sum* sum, Term* term) {
  const FactorTables& t = c.tables;
  const size_t pitch = t.tiles + 1;
  const int* const starts = t.starts + j * pitch;
  const int first = starts[row.index], other = starts[c.k + 1] - starts[c.k];
  const auto place = [&](int i) {  // among the vectors of row i that the sums are over
    return t.row_starts[i * pitch + j] - t.row_starts[i * pitch + c.from];
  };
  const int of_right = place(c.k);
  const T* const G =
      static_cast<const T*>(c.G[j - c.from]) + static_cast<size_t>(first - starts[c.k + 1]) * other;
  sum->overwrite = 1;
  sum->first = 0;
  sum->count = 1;
  term->B = G;
  term->ldb = other;
  if (second) {
    sum->C = static_cast<T*>(row.H) + static_cast<size_t>(of_right) * row.ldh;
    sum->m = row.left_samples;
    sum->n = other;
    sum->ldc = row.ldh;
    term->A = static_cast<const T*>(t.F[j]) + static_cast<size_t>(first) * t.ld;
    term->k = starts[row.index + 1] - first;
    term->lda = t.ld;
    term->flags = kAdjointB | kSubtract;
  } else {
    sum->C = static_cast<T*>(row.Z) + static_cast<size_t>(place(row.index)) * row.ldz;
    sum->m = row.samples;
    sum->n = starts[row.index + 1] - first;
    sum->ldc = row.ldz;
    term->A = static_cast<const T*>(c.X) + static_cast<size_t>(of_right) * c.ldx;
    term->k = other;
    term->lda = c.ldx;
    term->flags = kSubtract;
  }
}

/// block.x: j from item.from on, block.y: row, block.z: whether the second product of the two.
template <class T, int kColumns>
__global__ void __launch_bounds__(kProductThreads) middle_products_kernel(ColumnItem item) {
  __shared__ ProductTiles<T, kColumns> tiles;
  const ColumnRow row = item.rows[blockIdx.y];
  Sum sum;
  Term term;
  const int j = item.from + static_cast<int>(blockIdx.x);
  middle_product<T>(item, j, row, blockIdx.z != 0, &sum, &term);
  for (int m0 = 0; m0 < sum.m; m0 += ProductShape<T>::kRows)
    for (int n0 = 0; n0 < sum.n; n0 += kColumns) {
      __syncthreads();
      compute_tile<T, kColumns>(tiles, sum, ListedTerms{&term, &term + (term.k > 0 ? 1 : 0)}, m0,
                                n0);
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
