// What the host sends to the kernels of this folder.
#pragma once

#include <cstdint>

namespace chol::cuda::tlr {

inline constexpr int kProductThreads = 128;
inline constexpr int kAdjointA = 1, kAdjointB = 2, kSubtract = 4;

/// A product of a sum.
struct Term {
  const void *A, *B;
  int k, lda, ldb, flags;
};
struct Sum {
  void* C;
  int m, n, ldc, first, count, overwrite;
};
/// The tile of a sum that a block computes.
struct Part {
  int sum;
  uint16_t row, column;
};

/// A tile of a row of tiles: see column.cuh.
struct ColumnTile {
  const void *U, *V;
  int rank;      ///< -1: U is dense
  int row;       ///< where its rows start among those of all tiles of the row
  int64_t core;  ///< where its core starts; of a right tile its product with the samples
};
/// A row of block column k.
struct ColumnRow {
  ColumnTile own;
  void *Y, *X, *Z, *F, *H, *G;
  int order, samples, left_samples;
};
struct ColumnItem {
  const ColumnRow* rows;
  const ColumnTile *left, *right;  ///< of the rows, `count` each; of row k
  const void *omega, *psi, *X;
  int count;  ///< columns before k
  int tile, order, ld;
};

struct CopyItem {
  const void* from;
  void* to;
  int64_t rows, columns, ld_from, ld_to;
  bool adjoint;
};

struct BlockItem {
  void* elements;
  int64_t row, column, rows, columns, ld;
};

/// A core of a tile, and where its factorization goes: see backend::CoreFactor.
struct CoreItem {
  const void* S;
  void *work, *R, *T, *Q;
  int rows, columns;
  int place;       ///< of the result
  bool in_shared;  ///< whether its columns have room in shared memory
};
struct CoreResult {
  int rank, is_sufficient;
  float error, spike;
};

}  // namespace chol::cuda::tlr
