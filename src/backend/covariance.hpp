// Covariance functions of points, as the backends evaluate them.
#pragma once

#include <cstdint>

#include "chol.h"

namespace chol::backend {

struct Covariance {
  chol_kernel_kind_t kind;
  double variance, nugget, nu;
  int dim;
  int64_t n;
  /// Coordinates divided by the length scales, in the memory of the operations; one dimension after
  /// the other.
  const double* coordinates;
};

/// A block of a matrix, where it starts and where its elements go.
template <class T>
struct Block {
  int64_t row, column, rows, columns;
  T* elements;
  int64_t ld;
};

}  // namespace chol::backend
