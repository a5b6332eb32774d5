// Covariance functions of points, evaluated by blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/tile_ops.hpp"
#include "chol.h"

namespace chol::tlr {

class CovarianceKernel {
 public:
  CovarianceKernel(const chol_kernel_t& kernel, int dim, int64_t n, const double* points,
                   int64_t ldp);

  /// Elements (row.., column..) of the matrix.
  template <class T>
  void fill(backend::TileOps<T>& ops, int64_t row, int64_t column, int64_t rows, int64_t columns,
            T* block, int64_t ldb) const;

 private:
  template <class T>
  void evaluate(backend::TileOps<T>& ops, double* squared_distances, int64_t count) const;

  chol_kernel_kind_t kind_;
  double variance_, nugget_, nu_;
  int dim_;
  int64_t n_;
  std::vector<double> coordinates_;  ///< over the lengths; one dimension after the other
};

}  // namespace chol::tlr
