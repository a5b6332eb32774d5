// Storage of rows in the planes of residues. Also compiled for the host, for tests.
#pragma once

#include <cstdint>

namespace chol::cuda::residues {

/// Storage of only the rows below the diagonal block of each panel. Panels of the first half are in
/// their own columns, from their first row on; panel k from the end is stored in the free rows
/// above panel k from the start, from row 0 on.
struct Fold {
  int rows = 0;   ///< columns of the matrix in a panel, 0: rows are stored without folding
  int bytes = 0;  ///< of a row of a panel
  int panels = 0;

  struct Place {
    int64_t row, column;
  };

  __host__ __device__ int slots() const { return (panels + 1) / 2; }
  /// @param row of the matrix, below the panel that the byte `column` belongs to
  __host__ __device__ Place place(int64_t row, int64_t column) const {
    if (rows == 0) return {row, column};
    const int panel = static_cast<int>(column) / bytes;
    if (panel < slots()) return {row, column};
    return {row - int64_t{panel + 1} * rows, column + int64_t{panels - 1 - 2 * panel} * bytes};
  }
};

}  // namespace chol::cuda::residues
