// Dense products of small and medium sizes on one thread, for tile algorithms: a table of plain
// functions for each instruction set and precision.
#pragma once

#include <cstddef>
#include <cstdint>

namespace chol::host {

/// C := op(A) op(B), or C plus or minus that; op is nothing or the conjugate transpose.
/// Column-major. The bits of an element of C depend on its operands, on k and on whether n is
/// above 2.
struct ProductCall {
  bool adjoint_a = false, adjoint_b = false;
  int sign = 0;  ///< 0: C := op(A) op(B); 1, -1: added to C, subtracted from it
  int64_t m = 0, n = 0, k = 0;
  const void* A = nullptr;
  int64_t lda = 1;
  const void* B = nullptr;
  int64_t ldb = 1;
  void* C = nullptr;
  int64_t ldc = 1;
};

/// A (m by n, contiguous) becomes W S + A' with W orthonormal (m by rank, contiguous) and
/// ||A'||_F <= tolerance; A' is left in A. Columns of the largest norm come first, as in QR with
/// column pivoting; S (rank by n, leading dimension lds) stays in the order of the columns.
struct PivotedBasis {
  void* A = nullptr;
  int64_t m = 0, n = 0;
  double tolerance = 0;
  void* W = nullptr;
  void* S = nullptr;
  int64_t lds = 1;
  void* row = nullptr;  ///< scratch of n elements
  int64_t rank = 0;
  double left = 0;     ///< ||A'||_F
  double longest = 0;  ///< norm of the longest column of A'
};

struct Products {
  const char* isa;
  size_t buffer_bytes;  ///< of packed operands, for each thread
  void (*multiply)(const ProductCall& call, void* buffer);
  void (*find_basis)(PivotedBasis& basis);
  /// x[i] := scale * exp(-x[i]) for x[i] >= 0, to two units in the last place; NaN stays NaN. This
  /// and the following functions are the same in the tables of all precisions.
  void (*decay)(double* x, int64_t n, double scale);
  /// x[i] := factor * sqrt(x[i]).
  void (*scaled_root)(double* x, int64_t n, double factor);
  /// r2[i] := r2[i] + (x[i] - y)^2.
  void (*add_squared_distance)(double* r2, const double* x, double y, int64_t n);
};

/// The table of the instruction set that the host backend uses in this process.
/// @param precision s, d, c, z
const Products& products(char precision);

}  // namespace chol::host
