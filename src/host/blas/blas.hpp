// The trailing updates of tile Cholesky by the BLAS that the library was built with.
#pragma once

#include "host/kernels/kernel_table.hpp"

namespace chol::host {

/// Tile of rows [row, row_end) and columns [column, column_end), on or below the diagonal, minus
/// the product of its rows and columns in the factored columns [first, last).
using TileProduct = void (*)(const PanelMatrix& M, int64_t row, int64_t row_end, int64_t column,
                             int64_t column_end, int64_t first, int64_t last);

/// The BLAS's product, or nullptr in a build without a BLAS.
/// @param precision s, d, c, z
TileProduct blas_tile_product(char precision);

/// Largest leading dimension that the BLAS's integers hold.
extern const int64_t kLargestBlasDimension;

/// During its lifetime BLAS calls of this thread are single-threaded. The last object restores the
/// program's settings.
class SerialBlas {
 public:
  SerialBlas();
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int openmp_threads_, mkl_threads_;
};

}  // namespace chol::host
