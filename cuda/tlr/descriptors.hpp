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

/// A tile of a product of a list: rows from row times the rows of a tile on, columns [first, end).
struct TilePart {
  int item;
  uint16_t row, first, end;
};

/// C := A^H B with vectors of length k: A's are listed or lie ld apart. Element (i, j) of C is
/// stored at i * step_row + j * step_column.
struct TallItem {
  const void* const* list;
  const void *A, *B;
  void* C;
  int m, n, k, lda, ldb, step_row, step_column;
};

/// Rows of scratch are so many elements apart, or twice, ...: they begin at multiples of 16 bytes.
inline constexpr int kRowPitch = 4;

/// The finished block columns of a factor: see column_tables.hpp. Tile (i, j) has columns
/// [starts[j * (tiles + 1) + i], the same of i + 1) among those of V and U of block column j, and
/// begins at row_starts[i * (tiles + 1) + j] among those of U of block row i.
struct FactorTables {
  const int *starts, *row_starts;
  const void* const* F;  ///< of block column j the rows of U^H Psi
  const void* const* U;  ///< vectors of block row i from i * most_of_row on
  int64_t most_of_row;
  int tiles, ld;  ///< of F
};
/// A row of block column k.
struct ColumnRow {
  const void *U, *V;  ///< A_ik, of rank 0 where sums go on
  void *Y, *X, *Z, *H;
  void *own_Z, *own_H;  ///< V^H Omega, U^H Psi, behind Z and H or alone
  int index, rank, order, samples, left_samples, ldz, ldh, ld_own_h;
};
struct ColumnItem {
  FactorTables tables;
  const ColumnRow* rows;
  const void* const* G;  ///< V_ij^H V_kj of all rows below k, of each j in [from, to)
  const void* X;         ///< U_kj^H Omega, by rows
  void* const* columns;  ///< where H has all rows side by side: of the X_i
  int k, from, to, order, ldx;
  int joint_columns, ld_joint;  ///< of H of all rows, or 0
};
/// A tile of a block column that is finished.
struct FinishedTile {
  const void *U, *V;
  int index, rank, rows, start, row_start;
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
/// Columns of which a basis is made, with the last ones for tests: see backend::Orthonormalization,
/// or all of them for one of the least rank: see backend::Truncation.
struct BasisItem {
  CoreItem core;
  int tests;
  double tolerance;
};
struct CoreResult {
  int rank, is_sufficient;
  float error, spike;
};

}  // namespace chol::cuda::tlr
