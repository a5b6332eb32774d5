// Descriptors that the host sends to the kernels of this folder.
#pragma once

#include <cstdint>

namespace chol::cuda::tlr {

inline constexpr int kProductThreads = 128;
inline constexpr int kAdjointA = 1, kAdjointB = 2, kSubtract = 4;

/// One product of a sum.
struct Term {
  const void *A, *B;
  int k, lda, ldb, flags;
};
struct Sum {
  void* C;
  int m, n, ldc, first, count, overwrite;
};
/// The tile of a sum computed by one block.
struct Part {
  int sum;
  uint16_t row, column;
};

/// A tile of a product in a list: rows from row * (rows per tile) on, columns [first, end).
struct TilePart {
  int item;
  uint16_t row, first, end;
};

/// C := A^H B with vectors of length k. The vectors of A are listed or have leading dimension lda.
/// Element (i, j) of C is stored at i * step_row + j * step_column.
struct TallItem {
  const void* const* list;
  const void *A, *B;
  void* C;
  int m, n, k, lda, ldb, step_row, step_column;
};

/// The pitch of rows of scratch is a multiple of this, so that they are aligned to 16 bytes.
inline constexpr int kRowPitch = 4;

/// The finished block columns of a factor: see column_tables.hpp. Tile (i, j) has columns
/// [starts[j * (tiles + 1) + i], starts[j * (tiles + 1) + i + 1]) of V and U of block column j, and
/// begins at row_starts[i * (tiles + 1) + j] among the vectors U of block row i.
struct FactorTables {
  const int *starts, *row_starts;
  const void* const* F;  ///< for block column j the rows of U^H Psi
  const void* const* U;  ///< vectors of block row i from i * most_of_row on
  int64_t most_of_row;
  int tiles, ld;  ///< ld is the leading dimension of F
};
/// One row of block column k.
struct ColumnRow {
  const void *U, *V;  ///< A_ik, with rank 0 if sums are continued
  void *Y, *X, *Z, *H;
  void *own_Z, *own_H;  ///< V^H Omega and U^H Psi, contiguous with Z and H or separate
  int index, rank, order, samples, left_samples, ldz, ldh, ld_own_h;
};
struct ColumnItem {
  FactorTables tables;
  const ColumnRow* rows;
  const void* const* G;  ///< V_ij^H V_kj of all rows below k, for each j in [from, to)
  const void* X;         ///< U_kj^H Omega, in row-major order
  void* const* columns;  ///< columns of the X_i, if H of all rows is contiguous
  int k, from, to, order, ldx;
  int joint_columns, ld_joint;  ///< of H of all rows, or 0
};
/// A tile of a finished block column.
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

/// A core of a tile, and the destination of its factorization: see backend::CoreFactor.
struct CoreItem {
  const void* S;
  void *work, *R, *T, *Q;
  int rows, columns;
  int place;       ///< index of the result
  bool in_shared;  ///< whether its columns fit in shared memory
};
/// Columns for which a basis is computed. The last ones are tests (see
/// backend::Orthonormalization), or the basis of least rank for all of them is computed (see
/// backend::Truncation).
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
