// Where the planes of residues have a row's bytes. Also compiled for the host, for tests.
#pragma once

#include <cstdint>

namespace chol::cuda::residues {

/// Panels whose rows below the diagonal block alone are stored. The first half of the panels lie
/// where their columns are, from their rows on; each of the others lies, from row 0 on, above the
/// rows of the one as far from the other end.
struct Fold {
  int rows = 0;   ///< columns of the matrix in a panel, 0: every row is stored as it is
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
